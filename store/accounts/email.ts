import { emailCharsMax } from './limits.ts';

/** Text before and after one `@`, without spaces and control characters. Only a delivery can verify more. */
const shape = /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u;

/**
 * The Kelvin sign, the only non-ASCII letter whose lower case is ASCII (k). It is kept, so that two addresses
 * stay different.
 */
const kelvin = /(\u212A)/;

/** An e-mail address as it is stored and looked up: trimmed, in lower case. */
export function normalizeEmail(email: string): string {
  return email
    .trim()
    .split(kelvin)
    .map((part) => (kelvin.test(part) ? part : part.toLowerCase()))
    .join('');
}

/** Whether a normalized text can be an e-mail address. */
export function isEmail(text: string): boolean {
  return text.length <= emailCharsMax && shape.test(text);
}
