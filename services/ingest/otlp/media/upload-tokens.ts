import { createHmac, timingSafeEqual } from 'node:crypto';
import { minuteMs } from '../../../../platform/time.ts';
import { unauthorized } from '../../admit/api-key-cache.ts';
import type { SentMedia } from './sent-media.ts';

/** What a key may upload: bytes with this hash, for this use. */
export interface Upload extends SentMedia {
  /** Checked again when the bytes come. */
  readonly keyId: string;
}

/** SDKs upload at once, and retry for some seconds. */
const validMs = 15 * minuteMs;

/**
 * Signs uploads, so that any ingest recognises what another one allowed: SDKs send no key with the bytes. The
 * key of the signature is derived from the pepper of API keys, which never leaves the servers.
 */
export class UploadTokens {
  readonly #key: Buffer;

  constructor(pepper: string) {
    this.#key = createHmac('sha256', pepper).update('weir media uploads').digest();
  }

  sign(upload: Upload): string {
    const text = JSON.stringify({ ...upload, untilMs: Date.now() + validMs });
    const payload = Buffer.from(text).toString('base64url');
    return `${payload}.${this.#signatureOf(payload).toString('base64url')}`;
  }

  /** @throws IngestError `unauthorized` */
  open(token: string): Upload {
    const [payload = '', signature = ''] = token.split('.');
    const sent = Buffer.from(signature, 'base64url');
    const expected = this.#signatureOf(payload);
    if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) throw unauthorized();
    // Signed, so that it is what `sign` made.
    const { untilMs, ...upload } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Upload & {
      untilMs: number;
    };
    if (untilMs < Date.now()) throw unauthorized();
    return upload;
  }

  #signatureOf(payload: string): Buffer {
    return createHmac('sha256', this.#key).update(payload).digest();
  }
}
