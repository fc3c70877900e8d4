import { createHash, randomBytes } from 'node:crypto';
import { recoveryCodesCount } from '../limits.ts';

/** Crockford's base32 in lower case: no letter looks like a digit. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** 16 characters of 5 random bits each: too many to guess, also from their hashes. */
const codeChars = 16;

/** New recovery codes, such as `7k2m-9q4x-b0tz-3hdw`. */
export function createRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodesCount }, createCode);
}

function createCode(): string {
  const chars = [...randomBytes(codeChars)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return chars.replace(/(.{4})(?=.)/g, '$1-');
}

/** Spaces, hyphens and case do not count, and neither do O for 0, I and L for 1. */
export function hashRecoveryCode(code: string): Buffer {
  const chars = code.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');
  return createHash('sha256').update(chars).digest();
}
