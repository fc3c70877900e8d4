import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BodyBuffer } from './body-buffers.ts';
import { freeMemory } from './free-memory.ts';

const own = () => Buffer.allocUnsafeSlow(1024);
const isFreed = ({ buffer }: Buffer) => (buffer as ArrayBuffer).detached;

test('the memory of a buffer is given back after this turn of the event loop, and once', async () => {
  const buffer = own();
  freeMemory(buffer);
  freeMemory(buffer);
  expect(isFreed(buffer)).toBe(false);
  await nextTurn();
  expect(isFreed(buffer)).toBe(true);
  freeMemory(buffer);
  await nextTurn();
});

test.each([
  ['is part of a larger one', () => own().subarray(0, 1023)],
  ['comes from a pool', () => Buffer.from('abc')],
  ['is shared between threads', () => Buffer.from(new SharedArrayBuffer(8))],
  ['is empty', () => Buffer.alloc(0)],
])('memory that %s is left alone', async (_, make) => {
  const buffer = make();
  const { length } = buffer;
  freeMemory(buffer);
  await nextTurn();
  expect(buffer).toHaveLength(length);
});

test('a body holds none of its chunks once it has been put together, and nothing once it is released', async () => {
  for (const count of [1, 2, 1_000]) {
    const chunks = Array.from({ length: count }, own);
    const body = new BodyBuffer();
    for (const chunk of chunks) body.add(chunk);
    const bytes = body.toBytes();
    await nextTurn();
    expect(chunks.every(isFreed)).toBe(count > 1);
    expect(bytes).toHaveLength(count * 1024);
    expect(isFreed(bytes)).toBe(false);
    body.release();
    await nextTurn();
    // What large bodies take turns with is kept.
    expect(chunks.every(isFreed)).toBe(true);
  }
});
