import { createHmac, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isReadScope, type KeyScope } from './key-scope.ts';

/**
 * An API key is `weir_`, `weir_read_` or `weir_note_`, 32 base62 characters from a CSPRNG (190 bits), and
 * their CRC-32 as 6 more: malformed keys are rejected without a query, and secret scanners recognise a key.
 */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefixes = { ingest: 'weir_', read: 'weir_read_', annotation: 'weir_note_' } as const;
const secretChars = 32;
const checksumChars = 6;
const shapeOf = (prefix: string) => new RegExp(`^${prefix}[0-9A-Za-z]{${secretChars + checksumChars}}$`);
const shape = shapeOf(prefixes.ingest);
const callerShape = shapeOf(`(?:${prefixes.read}|${prefixes.annotation})`);

export function prefixOfScope(scope: KeyScope): string {
  return prefixes[isReadScope(scope) ? 'read' : scope];
}

/** A new random API key. Only its hash is stored. */
export function createApiKey(scope: KeyScope = 'ingest'): string {
  let key = prefixOfScope(scope);
  for (let i = 0; i < secretChars; i++) key += alphabet[randomInt(alphabet.length)];
  return key + checksum(key);
}

/** Whether a text has the shape and checksum of a key that sends events. The others have other shapes. */
export function isApiKey(text: string): boolean {
  return shape.test(text) && hasChecksum(text);
}

/** Whether a text has the shape and the checksum of a key for the dashboard API. */
export function isCallerKey(text: string): boolean {
  return callerShape.test(text) && hasChecksum(text);
}

/** Whether a text begins as the keys that add notes. */
export function isAnnotationKey(text: string): boolean {
  return text.startsWith(prefixes.annotation);
}

function hasChecksum(text: string): boolean {
  return text.endsWith(checksum(text.slice(0, -checksumChars)));
}

/** HMAC-SHA-256 with the pepper, by which a key is stored and looked up. */
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
