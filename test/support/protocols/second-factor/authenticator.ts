import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/**
 * A passkey in software: one ES256 key, as an authenticator with a verified user makes it (W3C Web
 * Authentication Level 3, §6).
 */
export class Authenticator {
  readonly #id = randomBytes(16);
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #origin: string;
  #userHandle: string | undefined;
  counter = 0;
  /** User present, user verified. */
  flags = 0x05;

  /** @param origin of the page that uses it. */
  constructor(origin: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    this.#publicKey = publicKey;
    this.#origin = origin;
  }

  /** `navigator.credentials.create` */
  create({ challenge, rp, user }: { challenge: string; rp: { id: string }; user: { id: string } }) {
    this.#userHandle = user.id;
    const { x = '', y = '' } = this.#publicKey.export({ format: 'jwk' });
    const bytes = (text: string) => Uint8Array.from(Buffer.from(text, 'base64url'));
    // A COSE key: EC2, ES256, P-256.
    const key = new Map<number, number | Uint8Array<ArrayBuffer>>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]);
    const length = Buffer.from([0, this.#id.length]);
    const attested = [Buffer.alloc(16), length, this.#id, isoCBOR.encode(key)];
    const authData = Uint8Array.from(Buffer.concat([this.#data(rp.id, this.flags | 0x40), ...attested]));
    const attestationObject = isoCBOR.encode(
      new Map<string, string | Map<string, string> | Uint8Array<ArrayBuffer>>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    );
    return this.#answer({
      clientDataJSON: this.#client('webauthn.create', challenge),
      attestationObject: Buffer.from(attestationObject).toString('base64url'),
    });
  }

  /** `navigator.credentials.get` */
  get({ challenge, rpId }: { challenge: string; rpId: string }) {
    this.counter += 1;
    const authenticatorData = this.#data(rpId, this.flags);
    const clientDataJSON = this.#client('webauthn.get', challenge);
    const clientHash = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest();
    const signature = sign('sha256', Buffer.concat([authenticatorData, clientHash]), this.#privateKey);
    return this.#answer({
      clientDataJSON,
      authenticatorData: authenticatorData.toString('base64url'),
      signature: signature.toString('base64url'),
      ...(this.#userHandle !== undefined && { userHandle: this.#userHandle }),
    });
  }

  #answer<Response>(response: Response) {
    const id = this.#id.toString('base64url');
    return { id, rawId: id, type: 'public-key' as const, response };
  }

  #client(type: string, challenge: string): string {
    const data = { type, challenge, origin: this.#origin, crossOrigin: false };
    return Buffer.from(JSON.stringify(data)).toString('base64url');
  }

  #data(rpId: string, flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), counter]);
  }
}
