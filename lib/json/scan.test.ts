import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyText, objectText, spaced, valueText } from '../../test/support/json-text.ts';
import { findMember, skipValue } from './scan.ts';

const anyValue = valueText('id');
const anyKey = fc.oneof(keyText('id'), fc.constantFrom('"Id"', '"id "', '"\\\\id"'));
const anyObject = spaced(objectText(fc.array(fc.tuple(anyKey, anyValue), { maxLength: 5 })));

test('a member is found where JSON.parse takes its value from', () => {
  fc.assert(
    fc.property(anyObject, (text) => {
      const bytes = Buffer.from(text);
      const range = findMember(bytes, 'id');
      const found = range && JSON.parse(bytes.toString('utf8', range.start, range.end));
      expect(found).toEqual(JSON.parse(text).id);
    }),
    { numRuns: 1_000 },
  );
});

test('a value ends where it is written to end', () => {
  fc.assert(
    fc.property(anyValue, fc.constantFrom(',', '}', ']', ' ', '\n', ''), (text, after) => {
      expect(skipValue(Buffer.from(text + after), 0)).toBe(Buffer.byteLength(text));
    }),
  );
});
