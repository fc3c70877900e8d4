import { expect, test } from 'vitest';
import { createRecoveryCodes, hashRecoveryCode } from './recovery-code.ts';

test('ten codes of 80 random bits', () => {
  const codes = createRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
});

test('a code may be typed without hyphens, in capitals, and with letters that look like its digits', () => {
  const hash = hashRecoveryCode('7k20-9q1x-b0tz-31dw');
  expect(hashRecoveryCode(' 7K2O 9QIX BOTZ 3LDW ')).toEqual(hash);
  expect(hashRecoveryCode('7k20-9q1x-b0tz-31dx')).not.toEqual(hash);
});
