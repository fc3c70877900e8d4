import { expect, test } from 'vitest';
import { BodyBuffer } from './body-buffers.ts';

const kibibytes = (count: number, byte: number) => Buffer.alloc(count * 1024, byte);

test.each([[0], [1], [255], [256], [257], [4096]])(
  'a body of %i KiB comes back as its chunks were',
  (size) => {
    const chunks = Array.from({ length: size }, (_, index) => kibibytes(1, index % 251));
    const buffer = new BodyBuffer();
    for (const chunk of chunks) buffer.add(chunk);
    expect(buffer.length).toBe(size * 1024);
    expect(buffer.toBytes().equals(Buffer.concat(chunks))).toBe(true);
    buffer.release();
  },
);

test('two bodies at once never share memory, and released twice a buffer is given out once', () => {
  const [one, two] = [new BodyBuffer(), new BodyBuffer()];
  one.add(kibibytes(300, 1));
  one.release();
  one.release();
  const three = new BodyBuffer();
  two.add(kibibytes(300, 2));
  three.add(kibibytes(300, 3));
  expect(two.toBytes().equals(kibibytes(300, 2))).toBe(true);
  expect(three.toBytes().equals(kibibytes(300, 3))).toBe(true);
});
