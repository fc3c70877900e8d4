import { z } from 'zod';
import { isEmail, normalizeEmail } from '../../../lib/accounts/email.ts';
import { emailCharsMax, passwordCharsMax, passwordCharsMin } from '../../../lib/accounts/limits.ts';
import { roles } from '../../../lib/accounts/role.ts';
import { nameCharsMax } from '../limits.ts';

/** Inputs that several procedures of accounts take. */

/** An e-mail address, normalized. */
export const email = z
  .string()
  .max(emailCharsMax)
  .transform(normalizeEmail)
  .refine(isEmail, 'must be an e-mail address');

/** A password as it is chosen. */
export const newPassword = z.string().min(passwordCharsMin).max(passwordCharsMax);

/** A password as it is verified: it may be one that could not be chosen. */
export const password = z.string().min(1).max(passwordCharsMax);

export const role = z.enum(roles);

/** The token of a link. Whatever it is, a wrong one is answered like one that has expired. */
export const token = z.string().max(100);

/** The display name of a space or a key. */
export const name = z
  .string()
  .trim()
  .min(1)
  .max(nameCharsMax)
  // Postgres rejects U+0000, and other control characters would garble a terminal.
  .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode');

/** A text that is compared with a column. Postgres rejects U+0000. */
export const plainText = z
  .string()
  .max(nameCharsMax)
  .refine((text) => !text.includes('\0'), 'must not contain U+0000');
