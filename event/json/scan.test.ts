import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyText, objectText, spaced, valueText } from '../../harness/fixtures/json-text.ts';
import { parseEscapedKeys } from './parse-escaped-keys.ts';
import { findMember, skipValue } from './scan.ts';

const anyValue = valueText('id');
const anyKey = fc.oneof(keyText('id'), fc.constantFrom('"Id"', '"id "', '"\\\\id"'));
const anyObject = spaced(objectText(fc.array(fc.tuple(anyKey, anyValue), { maxLength: 5 })));

test('the found member is the one that JSON.parse returns', () => {
  fc.assert(
    fc.property(anyObject, (text) => {
      const bytes = Buffer.from(text);
      const range = findMember(bytes, 'id');
      const found = range && parseEscapedKeys(bytes.subarray(range.start, range.end));
      expect(found).toEqual((parseEscapedKeys(bytes) as { id?: unknown }).id);
    }),
    { numRuns: 1_000 },
  );
});

test('skipValue returns the position after the value', () => {
  fc.assert(
    fc.property(anyValue, fc.constantFrom(',', '}', ']', ' ', '\n', ''), (text, after) => {
      expect(skipValue(Buffer.from(text + after), 0)).toBe(Buffer.byteLength(text));
    }),
  );
});
