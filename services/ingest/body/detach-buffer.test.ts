import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BodyBuffer } from './body-buffer.ts';
import { BufferPool } from './buffer-pool.ts';
import { detachBuffer } from './detach-buffer.ts';

const ownBuffer = () => Buffer.allocUnsafeSlow(1024);
const isDetached = ({ buffer }: Buffer) => (buffer as ArrayBuffer).detached;

test('a buffer is detached after this turn of the event loop, and may be detached again', async () => {
  const buffer = ownBuffer();
  detachBuffer(buffer);
  detachBuffer(buffer);
  expect(isDetached(buffer)).toBe(false);
  await nextTurn();
  expect(isDetached(buffer)).toBe(true);
  detachBuffer(buffer);
  await nextTurn();
});

test.each([
  ['is part of a larger one', () => ownBuffer().subarray(0, 1023)],
  ['comes from a pool', () => Buffer.from('abc')],
  ['is shared between threads', () => Buffer.from(new SharedArrayBuffer(8))],
  ['is empty', () => Buffer.alloc(0)],
])('memory that %s is not detached', async (_, make) => {
  const buffer = make();
  const { length } = buffer;
  detachBuffer(buffer);
  await nextTurn();
  expect(buffer).toHaveLength(length);
});

test('a body frees its chunks when they are joined, and everything when it is released', async () => {
  for (const count of [1, 2, 1_000]) {
    const chunks = Array.from({ length: count }, ownBuffer);
    const body = new BodyBuffer(new BufferPool());
    for (const chunk of chunks) body.add(chunk);
    const bytes = body.toBytes();
    await nextTurn();
    expect(chunks.every(isDetached)).toBe(count > 1);
    expect(bytes).toHaveLength(count * 1024);
    expect(isDetached(bytes)).toBe(false);
    body.release();
    await nextTurn();
    expect(chunks.every(isDetached)).toBe(true);
  }
});
