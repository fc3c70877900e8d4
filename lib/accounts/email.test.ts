import { expect, test } from 'vitest';
import { isEmail, normalizeEmail } from './email.ts';

test('addresses are compared without their case, and no other letter becomes one of ASCII', () => {
  expect(normalizeEmail(' Kate@Example.ORG ')).toBe('kate@example.org');
  expect(normalizeEmail('ÄNNE@example.org')).toBe('änne@example.org');
  // The Kelvin sign is k in lower case: a provider could verify it for somebody else.
  expect(normalizeEmail('\u212Aate@example.org')).not.toBe('kate@example.org');
  for (let code = 0x80; code <= 0x10ffff; code++) {
    const letter = String.fromCodePoint(code);
    if (/[\x21-\x7e]/.test(normalizeEmail(`.${letter}.`).slice(1, -1))) expect(letter).toBe('İ');
  }
  expect(isEmail(normalizeEmail('a@b'))).toBe(true);
});
