import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatSearch, parseSearch } from './search.ts';

test.for(['723421968459640832', '1e3', 'true', 'null', '{"a":1}', '007', ' x '])(
  '%s in an address stays the text that it is',
  (value) => {
    expect(parseSearch(formatSearch({ userId: value }))).toEqual({ userId: value });
  },
);

test('any names and texts survive the address', () => {
  const name = fc
    .string({ minLength: 1, unit: 'grapheme' })
    .filter((text) => !/^(__proto__|constructor|prototype)$/.test(text));
  const search = fc.dictionary(name, fc.string({ minLength: 1, unit: 'grapheme' }));
  fc.assert(
    fc.property(search, (given) => {
      expect(parseSearch(formatSearch(given))).toEqual({ ...given });
    }),
  );
});

test('an address cannot change the prototype of objects', () => {
  expect(Object.getPrototypeOf(parseSearch('?__proto__=x&constructor=y'))).toBe(Object.prototype);
  expect(Object.keys(parseSearch('?__proto__=x&constructor=y'))).toEqual([]);
});
