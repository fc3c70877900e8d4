import { expect, test } from 'vitest';
import { firstStream } from '../../../platform/queue/settings.ts';
import type { StreamState } from '../../../store/queue-state/stream-state.ts';
import { findRemoval } from './window-purge.ts';

const state = (changes: Partial<StreamState>): StreamState => ({
  stream: firstStream,
  createdAt: new Date(0),
  nowMs: 0,
  firstSequence: 101,
  lastSequence: 200,
  messages: 100,
  firstAt: new Date(0),
  lastAt: new Date(0),
  removed: 0,
  bytes: 40,
  bytesMax: 100,
  storedUpTo: 190,
  pending: 10,
  hasConsumer: true,
  nodes: [],
  ...changes,
});
const findFirstKept = (...args: Parameters<typeof findRemoval>) => findRemoval(...args).firstKept;
const unbounded = { expiredUpTo: 0, bytesMax: Number.POSITIVE_INFINITY };

test('stored messages go when they are older than the window, or above half of the bytes; others never go', () => {
  expect(findFirstKept(state({}), unbounded)).toBe(101);
  expect(findFirstKept(state({}), { ...unbounded, expiredUpTo: 150 })).toBe(151);
  expect(findFirstKept(state({}), { ...unbounded, expiredUpTo: 195 })).toBe(191);
  // 80 bytes in 100 messages: 47.5 bytes stay.
  expect(findFirstKept(state({ bytes: 80 }), unbounded)).toBe(101 + 41);
  expect(findFirstKept(state({ bytes: 80, storedUpTo: 110 }), unbounded)).toBe(111);
  expect(findFirstKept(state({ bytes: 80, storedUpTo: 100 }), unbounded)).toBe(101);
  expect(findFirstKept(state({}), { expiredUpTo: 0, bytesMax: 20 })).toBe(101 + 53);
  expect(
    findFirstKept(state({ messages: 0, bytes: 0, storedUpTo: 200, firstSequence: 201 }), unbounded),
  ).toBe(201);
});

test('a stream is crowded when a message that waits keeps stored ones above half of the bytes', () => {
  expect(findRemoval(state({}), unbounded).isCrowded).toBe(false);
  expect(findRemoval(state({ bytes: 80 }), unbounded).isCrowded).toBe(false);
  expect(findRemoval(state({ bytes: 80, storedUpTo: 110 }), unbounded).isCrowded).toBe(true);
});
