import { emailCharsMax } from './limits.ts';

/** Text before and after one `@`, without spaces and control characters. Only a delivery can verify more. */
const shape = /^[^@\s\p{Cc}]+@[^@\s\p{Cc}]+$/u;

/** The only non-ASCII letter whose lower case is ASCII (k). Kept, so that two addresses stay different. */
const kelvin = /(\u212A)/;

/** An e-mail address as it is stored and looked up: trimmed, in lower case. */
export function normalizeEmail(email: string): string {
  return email
    .trim()
    .split(kelvin)
    .map((part) => (kelvin.test(part) ? part : part.toLowerCase()))
    .join('');
}

export function isEmail(text: string): boolean {
  return text.length <= emailCharsMax && shape.test(text);
}
