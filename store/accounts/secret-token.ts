import { createHash, randomBytes } from 'node:crypto';

/** The secret tokens of cookies and links: 256 random bits. Postgres holds only their SHA-256. */
const tokenBytes = 32;
const tokenShape = /^[A-Za-z0-9_-]{43}$/;

/** 43 characters of base64url. */
export function createToken(): string {
  return randomBytes(tokenBytes).toString('base64url');
}

/** Anything else is rejected without a query. */
export function isToken(text: string): boolean {
  return tokenShape.test(text);
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
