import { z } from 'zod';
import { isEmail, normalizeEmail } from '../../../store/accounts/email.ts';
import { emailCharsMax, passwordCharsMax, passwordCharsMin } from '../../../store/accounts/limits.ts';
import { roles } from '../../../store/accounts/role.ts';
import { codeCharsMax } from '../second-factor/limits.ts';

/** Limit of the name of a space or a key, in characters. */
const nameCharsMax = 100;

export const email = z
  .string()
  .max(emailCharsMax)
  .transform(normalizeEmail)
  .refine(isEmail, 'must be an e-mail address');

export const newPassword = z.string().min(passwordCharsMin).max(passwordCharsMax);

/** A password to verify. It may violate the rules for new ones. */
export const password = z.string().min(1).max(passwordCharsMax);

/** A code of an authenticator app, or a recovery code. */
export const code = z.string().min(1).max(codeCharsMax);

export const role = z.enum(roles);

/** The token of a link. A malformed token is answered like an expired one. */
export const token = z.string().max(100);

export const name = z
  .string()
  .trim()
  .min(1)
  .max(nameCharsMax)
  // Postgres rejects U+0000, and control characters can corrupt a terminal.
  .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode');

/** A text that is compared with a column. Postgres rejects U+0000. */
export const plainText = z
  .string()
  .max(nameCharsMax)
  .refine((text) => !text.includes('\0'), 'must not contain U+0000');
