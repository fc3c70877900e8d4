import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spaced, valueText } from '../../test/support/json-text.ts';
import { cutDeeper, isDeeperThan } from './depth.ts';

// Not a name of one letter: once V8 has seen the key `\`, it reads the escaped key `\u0061` as that (nodejs/node#63785).
const anyValue = spaced(valueText('key'));
const levels = fc.integer({ min: 1, max: 5 });
const cut = (text: string, at: number) => cutDeeper(Buffer.from(text), at).toString();

/** What `cutDeeper` is to leave of a value. */
function prune(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return depth === 1 ? [] : value.map((element) => prune(element, depth - 1));
  if (depth === 1) return {};
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, prune(member, depth - 1)]));
}

test('what lies deeper is left out, and nothing else, whatever is written in strings', () => {
  fc.assert(
    fc.property(anyValue, levels, (text, depth) => {
      const left = cut(text, depth);
      expect(JSON.parse(left)).toEqual(prune(JSON.parse(text), depth));
      expect(isDeeperThan(JSON.parse(left), depth - 1)).toBe(isDeeperThan(JSON.parse(text), depth - 1));
    }),
    { numRuns: 2_000 },
  );
});

test('a value that is not too deep stays the same bytes', () => {
  const bytes = Buffer.from('[[["[[[[[[["]],{"a":{}}]');
  expect(cutDeeper(bytes, 4)).toBe(bytes);
});

test.each([
  ['brackets that are not closed', '[[[[[', '[['],
  ['a string that is not closed', '[[["[[', '[['],
  ['too many closing brackets', ']][[[[', ']][[[['],
])('%s stay no JSON', (_, text, left) => {
  expect(cut(text, 2)).toBe(left);
  expect(() => JSON.parse(left)).toThrow(SyntaxError);
});
