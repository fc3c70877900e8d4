import { createHmac, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * An API key is `weir_`, 32 base62 characters from a CSPRNG (190 bits), and the CRC-32 of these as 6 base62 characters.
 * With the checksum, malformed keys are rejected without a query, and secret scanners recognise a key.
 */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'weir_';
const secretChars = 32;
const checksumChars = 6;
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${secretChars + checksumChars}}$`);

/** A new random API key. Only its hash is stored. */
export function createApiKey(): string {
  let key = prefix;
  for (let i = 0; i < secretChars; i++) key += alphabet[randomInt(alphabet.length)];
  return key + checksum(key);
}

/** Whether a text has the shape and the checksum of an API key. */
export function isApiKey(text: string): boolean {
  return shape.test(text) && text.endsWith(checksum(text.slice(0, -checksumChars)));
}

/** The hash by which an API key is stored and looked up: HMAC-SHA-256 with the pepper. */
export function hashApiKey(apiKey: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(apiKey).digest();
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < checksumChars; i++) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
