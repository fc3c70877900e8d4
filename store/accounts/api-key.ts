import { createHmac, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isReadScope, type KeyScope } from './key-scope.ts';

/**
 * An API key is `weir_`, 32 base62 characters from a CSPRNG (190 bits), and the CRC-32 of these as 6 base62
 * characters. A read key begins with `weir_read_`. With the checksum, malformed keys are rejected without a
 * query, and secret scanners recognise a key.
 */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefixes = { ingest: 'weir_', read: 'weir_read_' } as const;
const secretChars = 32;
const checksumChars = 6;
const shapeOf = (prefix: string) => new RegExp(`^${prefix}[0-9A-Za-z]{${secretChars + checksumChars}}$`);
const shape = shapeOf(prefixes.ingest);
const readShape = shapeOf(prefixes.read);

/** The first characters of the keys of a scope. */
export function prefixOfScope(scope: KeyScope): string {
  return isReadScope(scope) ? prefixes.read : prefixes.ingest;
}

/** A new random API key. Only its hash is stored. */
export function createApiKey(scope: KeyScope = 'ingest'): string {
  let key = prefixOfScope(scope);
  for (let i = 0; i < secretChars; i++) key += alphabet[randomInt(alphabet.length)];
  return key + checksum(key);
}

/**
 * Whether a text has the shape and the checksum of an API key that sends events. A read key has another
 * shape.
 */
export function isApiKey(text: string): boolean {
  return shape.test(text) && hasChecksum(text);
}

/** Whether a text has the shape and the checksum of a read key. */
export function isReadKey(text: string): boolean {
  return readShape.test(text) && hasChecksum(text);
}

function hasChecksum(text: string): boolean {
  return text.endsWith(checksum(text.slice(0, -checksumChars)));
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
