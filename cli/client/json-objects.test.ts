import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJsonObjects, type StreamedObject } from './json-objects.ts';

async function read(chunks: readonly Buffer[], bytesMax = 1_000_000): Promise<StreamedObject[]> {
  async function* stream() {
    yield* chunks;
  }
  return Array.fromAsync(readJsonObjects(stream(), bytesMax));
}

const textsOf = (objects: readonly StreamedObject[]) => objects.map(({ bytes }) => bytes?.toString());

test('objects are found with any bytes between them, and at any chunk boundaries', async () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  const spaces = fc.constantFrom('', '\n', '\r\n', ' ', ',\n', '\n\n');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(object, spaces, fc.boolean())),
      fc.integer({ min: 1, max: 20 }),
      async (parts, chunkBytes) => {
        const texts = parts.map(([value, , isPretty]) => JSON.stringify(value, null, isPretty ? 2 : 0));
        const bytes = Buffer.from(parts.map(([, space], index) => texts[index] + space).join(''));
        const chunks = [];
        for (let at = 0; at < bytes.length; at += chunkBytes)
          chunks.push(bytes.subarray(at, at + chunkBytes));
        expect(textsOf(await read(chunks))).toEqual(texts);
      },
    ),
  );
});

test('each object has the number of its first line', async () => {
  const objects = await read([Buffer.from('{"a":\n1}\n\n{"b":"}{"}{"c":3}\n')]);
  expect(objects.map(({ line, bytes }) => [line, bytes?.toString()])).toEqual([
    [1, '{"a":\n1}'],
    [4, '{"b":"}{"}'],
    [4, '{"c":3}'],
  ]);
});

test('an object that is too long is reported, and so is one that does not end', async () => {
  expect(textsOf(await read([Buffer.from('{"a":1}{"long":"xxxx"}{"b":2}')], 10))).toEqual([
    '{"a":1}',
    undefined,
    '{"b":2}',
  ]);
  expect(await read([Buffer.from('{}\n{"a":"}')])).toEqual([
    { line: 1, bytes: Buffer.from('{}') },
    { line: 2, bytes: undefined },
  ]);
});
