import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Authenticated encryption of short texts. A text sealed for one purpose cannot be opened for another. */
export interface Seal {
  /** @param context of the text, such as a user's id: not secret, and needed to open the text. */
  seal(text: string, context: string): Buffer;
  /** @returns undefined when the bytes were not sealed with this key for this context. */
  open(sealed: Uint8Array, context: string): string | undefined;
}

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** Derives a key for the purpose from API_KEY_PEPPER (HKDF with SHA-256). */
export function openSeal(pepper: string, purpose: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', pepper, '', `weir ${purpose} v1`, keyBytes));
  return {
    seal(text, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      const bytes = Buffer.from(sealed);
      if (bytes.length < nonceBytes + tagBytes) return undefined;
      const nonce = bytes.subarray(0, nonceBytes);
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        const body = bytes.subarray(nonceBytes + tagBytes);
        return Buffer.concat([decipher.update(body), decipher.final()]).toString();
      } catch {
        // Another key, another context, or changed bytes.
        return undefined;
      }
    },
  };
}
