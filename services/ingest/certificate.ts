import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ConfigError } from '../../lib/config.ts';
import { certificateCheckMs } from '../../lib/limits.ts';
import type { Logger } from '../../lib/log.ts';

export interface KeyPair {
  cert: Buffer;
  key: Buffer;
}

/** The certificate that we show, from files that may be renewed while we run. */
export interface Certificate extends Disposable {
  readonly current: KeyPair;
  /** Has new connections use a renewed certificate. */
  follow(use: (pair: KeyPair) => void): void;
}

interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

/**
 * Reads a certificate and its key, and reads them again when one of the files changes. The files are looked at, not
 * subscribed to: what renews them replaces files, links and whole directories, each in its own way.
 *
 * @throws ConfigError when they cannot be read, or do not go together.
 */
export async function openCertificate(files: CertificateFiles, log: Logger): Promise<Certificate> {
  const current = await readPair(files);
  const paths = [files.certFile, files.keyFile];
  const stops: (() => void)[] = [];
  return {
    current,
    follow(use) {
      const renew = async () => {
        try {
          use(await readPair(files));
          log.info('the certificate was renewed');
        } catch (error) {
          // Between the writing of one file and the other they do not go together: the second change brings us back.
          log.warn({ err: error }, 'the renewed certificate cannot be used; the one before stays');
        }
      };
      for (const path of paths) {
        const onChange = () => void renew();
        watchFile(path, { interval: certificateCheckMs, persistent: false }, onChange);
        stops.push(() => unwatchFile(path, onChange));
      }
    },
    [Symbol.dispose]() {
      for (const stop of stops) stop();
    },
  };
}

async function readPair({ certFile, keyFile }: CertificateFiles): Promise<KeyPair> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `TLS_CERT_FILE (${certFile}) and TLS_KEY_FILE (${keyFile}) cannot be used: ${reason}`,
      { cause: error },
    );
  }
}
