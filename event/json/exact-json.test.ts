import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactInteger, parseExactJson, stringifyExact } from './exact-json.ts';
import type { Json } from './json-value.ts';

test('numbers that a double cannot hold are written with all of their digits, wherever they are', () => {
  const large = exactInteger(1_760_000_000_000_123_457n);
  const json: Json = { a: [{ b: large }, 'text'], 'quoted "key"': { c: large, d: null }, e: [1, [large]] };
  const text = stringifyExact(json);
  expect(text).toBe(JSON.stringify(json));
  expect(text).toContain('1760000000000123457');
  expect(stringifyExact(large)).toBe('1760000000000123457');
});

test('any JSON is written as JSON.stringify writes it', () => {
  const large = fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n }).map(String);
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.json(),
      large,
      fc.array(tie('json'), { maxLength: 4 }).map((elements) => `[${elements.join()}]`),
      fc
        .array(fc.tuple(fc.string(), tie('json')), { maxLength: 4 })
        .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`),
    ),
  }));
  fc.assert(
    fc.property(json, (text) => {
      const value = parseExactJson(text, true);
      expect(stringifyExact(value)).toBe(JSON.stringify(value));
    }),
    { numRuns: 300 },
  );
});
