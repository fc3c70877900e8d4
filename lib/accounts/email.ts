import { emailCharsMax } from './limits.ts';

/** Something before and after one `@`, without spaces and control characters. Only delivery proves more. */
const shape = /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u;

/** The Kelvin sign, the one letter beyond ASCII whose lower case is in it: k. Another address must not become somebody's. */
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
