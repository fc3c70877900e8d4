import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { totpSteps } from '../limits.ts';

/** RFC 6238, with the settings that every app supports. */

const settings = { issuer: 'Weir', algorithm: 'SHA1', digits: 6, period: 30 };

/** RFC 4226 §4 recommends 160 bits. */
const secretBytes = 20;

/** A new secret in base32, as users type it into an app. */
export function createTotpSecret(): string {
  return toBase32(randomBytes(secretBytes));
}

function toBase32(bytes: Buffer): string {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer }).base32;
}

/** The `otpauth:` URI of a secret, which apps read from a QR code. */
export function totpUri(secret: string, email: string): string {
  return new TOTP({ ...settings, label: email, secret }).toString();
}

/**
 * A code's step, or the step before or after: telephones' clocks differ, and typing takes time.
 * @param atMs since the epoch. @returns undefined when the code is wrong at that time.
 */
export function findTotpStep(secret: string, code: string, atMs: number): number | undefined {
  // The library throws at six characters of more than six bytes.
  if (!/^\d{6}$/.test(code)) return undefined;
  const delta = new TOTP({ ...settings, secret }).validate({
    token: code,
    timestamp: atMs,
    window: totpSteps,
  });
  return delta === null ? undefined : Math.floor(atMs / 1_000 / settings.period) + delta;
}
