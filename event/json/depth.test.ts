import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spaced, valueText } from '../../harness/fixtures/json-text.ts';
import { isDeeperThan, limitDepth } from './depth.ts';
import { parseEscapedKeys } from './parse-escaped-keys.ts';

const anyValue = spaced(valueText('key'));
const levels = fc.integer({ min: 1, max: 5 });
const limit = (text: string, at: number) => limitDepth(Buffer.from(text), at).bytes.toString();
const parse = (text: string) => parseEscapedKeys(Buffer.from(text));

/** The expected result of `limitDepth`. */
function prune(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return depth === 1 ? [] : value.map((element) => prune(element, depth - 1));
  if (depth === 1) return {};
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, prune(member, depth - 1)]));
}

test('only deeper values are removed, whatever strings contain', () => {
  fc.assert(
    fc.property(anyValue, levels, (text, depth) => {
      const left = limit(text, depth);
      expect(parse(left)).toEqual(prune(parse(text), depth));
      expect(isDeeperThan(parse(left), depth - 1)).toBe(isDeeperThan(parse(text), depth - 1));
    }),
    { numRuns: 2_000 },
  );
});

test('a value that is not too deep is returned as the same bytes', () => {
  const bytes = Buffer.from('[[["[[[[[[["]],{"a":{}}]');
  expect(limitDepth(bytes, 4).bytes).toBe(bytes);
});

test.each([
  ['brackets that are not closed', '[[[[[', '[['],
  ['a string that is not closed', '[[["[[', '[['],
  ['too many closing brackets', ']][[[[', ']][[[['],
])('%s stay invalid', (_, text, left) => {
  expect(limit(text, 2)).toBe(left);
  expect(() => JSON.parse(left)).toThrow(SyntaxError);
});

test.each([
  ['{"a\\\\":0}', true],
  ['[{"a":[]},{ "\\u0061" : {} }]', true],
  ['{"a":"\\\\[ x = 1 \\\\]","b":["\\\\","C:\\\\:"]}', false],
  ['{"a:":"\\"b\\":0","c":":"}', false],
])('%s has an escaped key: %s', (text, expected) => {
  expect(limitDepth(Buffer.from(text), 9).hasEscapedKey).toBe(expected);
});
