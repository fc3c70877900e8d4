import { expect, test } from 'vitest';
import { isEmail, normalizeEmail } from './email.ts';

test('addresses are compared ignoring case, and no non-ASCII letter becomes an ASCII one', () => {
  expect(normalizeEmail(' Kate@Example.ORG ')).toBe('kate@example.org');
  expect(normalizeEmail('ÄNNE@example.org')).toBe('änne@example.org');
  // The Kelvin sign's lower case is k, so another address could become equal to a verified one.
  expect(normalizeEmail('\u212Aate@example.org')).not.toBe('kate@example.org');
  for (let code = 0x80; code <= 0x10ffff; code++) {
    const letter = String.fromCodePoint(code);
    if (/[\x21-\x7e]/.test(normalizeEmail(`.${letter}.`).slice(1, -1))) expect(letter).toBe('İ');
  }
  expect(isEmail(normalizeEmail('a@b'))).toBe(true);
});
