import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { generate } from 'selfsigned';

/** A certificate for 127.0.0.1 and localhost with its key, both PEM. */
export interface Pair {
  cert: string;
  private: string;
  /** Hexadecimal in upper case, as TLS clients print it. */
  fingerprint: string;
}

/** @param notAfterDate when it expires; by default in a year. */
export async function makePair(notAfterDate?: Date): Promise<Pair> {
  const altNames = [
    { type: 7 as const, ip: '127.0.0.1' },
    { type: 2 as const, value: 'localhost' },
  ];
  const pair = await generate([{ name: 'commonName', value: 'weir.test' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...(notAfterDate && { notAfterDate }),
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  return { ...pair, fingerprint: pair.fingerprint.toUpperCase() };
}

/** The files of a certificate, in a separate directory. */
export class CertificateFiles implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'weir-test-tls-'));
  readonly certFile = join(this.#directory, 'cert.pem');
  readonly keyFile = join(this.#directory, 'key.pem');

  /** The configuration with their paths. */
  get variables(): Record<string, string> {
    return { TLS_CERT_FILE: this.certFile, TLS_KEY_FILE: this.keyFile };
  }

  install(pair: Pair): void {
    this.replace('certFile', pair.cert);
    this.replace('keyFile', pair.private);
  }

  /** Replaces a file atomically, as renewal tools do. */
  replace(name: 'certFile' | 'keyFile', content: string): void {
    writeFileSync(`${this[name]}.new`, content);
    renameSync(`${this[name]}.new`, this[name]);
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true });
  }
}

/** Opens a TLS connection without verifying the certificate. */
export async function shakeHands(url: string, ALPNProtocols?: string[]): Promise<TLSSocket> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ALPNProtocols });
  await once(socket, 'secureConnect');
  // A service that ends may reset it.
  return socket.on('error', () => {});
}

/** The fingerprint of the certificate that new connections get. */
export async function readFingerprint(url: string): Promise<string> {
  const socket = await shakeHands(url);
  const { fingerprint } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint;
}
