import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spaced, valueText } from '../../harness/fixtures/json-text.ts';
import { parseEscapedKeys } from './parse-escaped-keys.ts';

const anyValue = spaced(valueText('key', '__proto__', '\\', 'a\\'));
const parse = (text: string) => parseEscapedKeys(Buffer.from(text));

/** JSON.parse of one object at a time, with no other text parsed before: without V8's bug. */
function parseInNewRealm(text: string): unknown {
  return runInNewContext('JSON.parse')(text);
}

function outcomeOf(read: (text: string) => unknown, text: string): string {
  try {
    return JSON.stringify(read(text));
  } catch {
    return 'invalid';
  }
}

test('a value is parsed as JSON.parse does', () => {
  const oneObject = anyValue.filter((text) => text.split(':').length < 4);
  fc.assert(
    fc.property(oneObject, (text) => {
      expect(outcomeOf(parse, text)).toBe(outcomeOf(parseInNewRealm, text));
    }),
    { numRuns: 500 },
  );
});

test('a damaged value is rejected as by JSON.parse', () => {
  const damage = fc.tuple(
    anyValue,
    fc.nat(),
    fc.nat({ max: 2 }),
    fc.constantFrom('', '"', '{', ']', ',', ':', '\\', '0', ' ', '\u0000', '\u00a0', 'é'),
  );
  fc.assert(
    fc.property(damage, ([text, at, removed, added]) => {
      const start = at % (text.length + 1);
      const damaged = text.slice(0, start) + added + text.slice(start + removed);
      expect(outcomeOf(parse, damaged) === 'invalid').toBe(outcomeOf(parseInNewRealm, damaged) === 'invalid');
    }),
    { numRuns: 1_000 },
  );
});

test.each(['', ' ', '{', '[1,]', '{"a\\\\":1,}', '{"a\\\\":1}}', '{"a\\\\"}', '{"\\x":1}', '01', '[1 2]'])(
  'invalid JSON is rejected: %j',
  (text) => {
    expect(() => parse(text)).toThrow();
  },
);

test('of duplicate keys the last one wins, and __proto__ is a key', () => {
  const value = parse('{"\\u0061":1,"b":2,"a":3,"__proto__":{"x":"\\\\"}}') as object;
  expect(JSON.stringify(value)).toBe('{"a":3,"b":2,"__proto__":{"x":"\\\\"}}');
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test.each([
  ['\\\\', '\\u00e9', 'é'],
  ['a\\\\', 'a\\u00e9', 'aé'],
  ['\\\\n', '\\nb', '\nb'],
])('the key "%s" of an earlier text does not replace the escaped key "%s"', (earlier, escaped, key) => {
  const first = `before ${key.charCodeAt(0)}`;
  JSON.parse(`{"${first}":0,"${earlier}":0}`);
  const text = `{"${first}":0,"${escaped}":0}`;
  // This module is needed as long as JSON.parse returns a wrong key.
  expect(Object.keys(JSON.parse(text))).not.toEqual([first, key]);
  expect(Object.keys(parse(text) as object)).toEqual([first, key]);
});

test('an escaped key is not replaced by a key of another object, at any depth', () => {
  const nest = (levels: number, json: string) => '{"x":['.repeat(levels) + json + ']}'.repeat(levels);
  for (const levels of [0, 1, 2, 3, 4, 9]) {
    const both = `[{"f${levels}":0,"\\\\":0},{"f${levels}":0,"\\u00e9":0}]`;
    expect(JSON.stringify(parse(nest(levels, both)))).toContain(`{"f${levels}":0,"é":0}`);
  }
});
