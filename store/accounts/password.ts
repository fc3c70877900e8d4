import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const deriveKey = promisify(argon2);

/** A setting of OWASP for argon2id: 9 MiB, 25 ms of a core. With 19 MiB libc would keep 76 MB (ADR 0005). */
const cost = { memory: 9_216, passes: 4, parallelism: 1 };
const saltBytes = 16;
const tagBytes = 32;

/** A PHC string. Verifying takes the costs from it, so hashes stay valid when `cost` changes. */
const shape = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** 96 random bits. */
const generatedBytes = 12;

/** 16 characters. */
export function generatePassword(): string {
  return randomBytes(generatedBytes).toString('base64url');
}

/** Argon2id with a random salt, as a PHC string. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const tag = await derive(password, { ...cost, salt, tagBytes });
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** Compares in constant time. @throws Error when `hash` is no argon2id PHC string: the row is damaged. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt, tag] = shape.exec(hash) ?? [];
  if (salt === undefined || tag === undefined) throw new Error('a stored password hash is not a PHC string');
  const expected = Buffer.from(tag, 'base64');
  const actual = await derive(password, {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tagBytes: expected.length,
  });
  return timingSafeEqual(actual, expected);
}

function derive(
  password: string,
  options: { memory: number; passes: number; parallelism: number; salt: Buffer; tagBytes: number },
): Promise<Buffer> {
  const { memory, passes, parallelism, salt, tagBytes } = options;
  return deriveKey('argon2id', {
    // Keyboards may produce different code points for the same password; NFKC makes them equal.
    message: password.normalize('NFKC'),
    nonce: salt,
    parallelism,
    tagLength: tagBytes,
    memory,
    passes,
  });
}

/** Base64 without padding, as the PHC format requires. */
function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
