import { expect, test } from 'vitest';
import { BodyBuffer } from './body-buffer.ts';
import { BufferPool } from './buffer-pool.ts';

const pool = new BufferPool();
const kibibytes = (count: number, byte: number) => Buffer.alloc(count * 1024, byte);

test.each([[0], [1], [255], [256], [257], [4096], [4097], [9000], [16_384]])(
  'a body of %i KiB equals its chunks',
  (size) => {
    const chunks = Array.from({ length: size }, (_, index) => kibibytes(1, index % 251));
    const buffer = new BodyBuffer(pool);
    for (const chunk of chunks) buffer.add(chunk);
    expect(buffer.length).toBe(size * 1024);
    expect(buffer.toBytes().equals(Buffer.concat(chunks))).toBe(true);
    buffer.release();
  },
);

test('a chunk that is larger than a buffer of the pool is kept whole', () => {
  const chunks = [kibibytes(300, 1), kibibytes(9_000, 2), kibibytes(1, 3)];
  const buffer = new BodyBuffer(pool);
  for (const chunk of chunks) buffer.add(Buffer.from(chunk));
  expect(buffer.toBytes().equals(Buffer.concat(chunks))).toBe(true);
  buffer.release();
});

test('a buffer that is released twice is given to one body only', () => {
  const [one, two, three] = [new BodyBuffer(pool), new BodyBuffer(pool), new BodyBuffer(pool)];
  one.add(kibibytes(300, 1));
  one.release();
  one.release();
  two.add(kibibytes(300, 2));
  three.add(kibibytes(300, 3));
  expect(two.toBytes().equals(kibibytes(300, 2))).toBe(true);
  expect(three.toBytes().equals(kibibytes(300, 3))).toBe(true);
});
