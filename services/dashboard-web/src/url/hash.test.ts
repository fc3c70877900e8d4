import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readHash, writeHash } from './hash.ts';

test('any text survives the hash of an address', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const url = new URL('http://localhost/');
      // The browser removes these from any address.
      const written = writeHash(text.replaceAll(/[\t\n\r]/g, ''));
      url.hash = `#${written}`;
      expect(readHash(url.hash.slice(1))).toBe(text.replaceAll(/[\t\n\r]/g, ''));
      expect(readHash(written)).toBe(text.replaceAll(/[\t\n\r]/g, ''));
    }),
    { examples: [['a["odd name"][0]'], ['["100 %"]'], ['["%41"]'], ['["#?"]']] },
  );
});
