import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../harness/fixtures/any-character.ts';
import {
  cutText,
  quoteElement,
  splitElements,
  storableText,
  unquoteElement,
  wellFormedJson,
} from './text.ts';

const anyText = fc.string({ unit: anyCharacter });

test('cutText returns a prefix that does not end in half of a surrogate pair', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, charsMax) => {
      const cut = cutText(text, charsMax);
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(charsMax);
      expect(cut.isWellFormed()).toBe(true);
    }),
  );
});

test('wellFormedJson replaces lone surrogates, and nothing else', () => {
  const text = fc.string({
    unit: fc.oneof(anyCharacter, fc.constantFrom('\\', '"', 'ud800', '\ud800', '\udfff')),
  });
  fc.assert(
    fc.property(text, (text) => {
      expect(JSON.parse(wellFormedJson(JSON.stringify({ [text]: text })))).toEqual({
        [text.toWellFormed()]: text.toWellFormed(),
      });
    }),
  );
});

test('joined elements are split into the same elements', () => {
  const element = fc.oneof(anyText.map(quoteElement), fc.constant('NULL'), fc.integer().map(String));
  fc.assert(
    fc.property(fc.array(element, { minLength: 1 }), (elements) => {
      expect(splitElements(elements.join(','))).toEqual(elements);
    }),
  );
});

test('a quoted element is read back as the text that Postgres stores', () => {
  const text = fc.string({
    unit: fc.oneof(anyCharacter, fc.constantFrom('"', '\\', '\n', '\t', '\0', '\x7f', 'a')),
  });
  fc.assert(
    fc.property(text, (text) => {
      expect(unquoteElement(quoteElement(text))).toBe(storableText(text));
    }),
    { numRuns: 1_000 },
  );
});

test('no text keeps characters that Postgres rejects', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      for (const stored of [storableText(`${text}\0\uD800`), quoteElement(`${text}\0\uD800`)]) {
        expect(stored.isWellFormed()).toBe(true);
        expect(stored).not.toContain('\0');
      }
    }),
  );
});
