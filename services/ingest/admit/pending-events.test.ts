import { expect, test } from 'vitest';
import { PendingEvents } from './pending-events.ts';

test('events stay pending until every stream has stored the messages that hold them', () => {
  const pending = new PendingEvents();
  pending.add(5, { stream: 'a', sequence: 7 });
  pending.add(3, { stream: 'b', sequence: 2 });
  pending.dropStored(new Map([['a', 7]]));
  expect([pending.count, pending.positions()]).toEqual([
    8,
    [
      { stream: 'a', sequence: 7 },
      { stream: 'b', sequence: 2 },
    ],
  ]);
  pending.dropStored(
    new Map([
      ['a', 9],
      ['b', 2],
    ]),
  );
  expect([pending.count, pending.positions()]).toEqual([0, []]);
});

test('stored events are dropped although later events keep arriving', () => {
  const pending = new PendingEvents();
  for (let sequence = 1; sequence <= 100; sequence++) {
    pending.add(10, { stream: 'a', sequence });
    // The writers lag by three messages.
    pending.dropStored(new Map([['a', sequence - 3]]));
  }
  expect(pending.count).toBeGreaterThanOrEqual(30);
  expect(pending.count).toBeLessThanOrEqual(80);
});
