import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timeMsMax } from '../../platform/limits.ts';
import { formatEventCursor, parseEventCursor } from './event-cursor.ts';

test('a formatted cursor is parsed back exactly', () => {
  const time = fc.double({ min: -timeMsMax, max: timeMsMax, noNaN: true }).map((value) => value + 0);
  fc.assert(
    fc.property(time, fc.uuid(), (startTimeMs, id) => {
      expect(parseEventCursor(formatEventCursor({ startTimeMs, id }))).toEqual({ startTimeMs, id });
    }),
  );
});

test('a text that is not a cursor is rejected', () => {
  fc.assert(fc.property(fc.string(), (text) => parseEventCursor(text) === undefined));
  const forged = Buffer.from('Infinity_00000000-0000-4000-8000-000000000000').toString('base64url');
  expect(parseEventCursor(forged)).toBeUndefined();
});
