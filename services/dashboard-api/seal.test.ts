import { expect, test } from 'vitest';
import { openSeal } from './seal.ts';

const pepper = 'pepper-of-the-tests-only';
const seal = openSeal(pepper, 'totp');
const sealed = seal.seal('a secret ✓', 'user-1');

test('a sealed text is opened with the same key, purpose and context', () => {
  expect(openSeal(pepper, 'totp').open(sealed, 'user-1')).toBe('a secret ✓');
  expect(sealed.includes('a secret')).toBe(false);
  expect(seal.seal('a secret ✓', 'user-1')).not.toEqual(sealed);
});

test('nothing else opens it', () => {
  expect(openSeal(`${pepper}!`, 'totp').open(sealed, 'user-1')).toBeUndefined();
  expect(openSeal(pepper, 'live-filter').open(sealed, 'user-1')).toBeUndefined();
  expect(seal.open(sealed, 'user-2')).toBeUndefined();
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(seal.open(changed, 'user-1')).toBeUndefined();
  }
  expect(seal.open(sealed.subarray(0, 20), 'user-1')).toBeUndefined();
});
