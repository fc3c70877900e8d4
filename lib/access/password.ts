import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const deriveKey = promisify(argon2);

/**
 * One of OWASP's equally strong choices for argon2id: 9 MiB, four passes, one lane; some 25 ms of a core. Not the one
 * with 19 MiB: libc keeps what each of four threads once used, and 76 MB for sign-ins is too much of a service.
 */
const cost = { memory: 9_216, passes: 4, parallelism: 1 };
const saltBytes = 16;
const tagBytes = 32;

/** The costs are read back from the text, so that a later, dearer choice still verifies what is stored. */
const shape = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** What is stored of a password: argon2id with a salt of its own, as a PHC string. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const tag = await derive(password, { ...cost, salt, tagBytes });
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/**
 * Whether a password is the one that was hashed, compared in constant time.
 *
 * @throws Error when `hash` is none of ours: the row is damaged, and no password can be right.
 */
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
    // One password typed on two keyboards may be two sequences of code points; NFKC makes them one.
    message: password.normalize('NFKC'),
    nonce: salt,
    parallelism,
    tagLength: tagBytes,
    memory,
    passes,
  });
}

/** The PHC format's base64 has no padding. */
function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
