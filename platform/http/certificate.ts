import { X509Certificate } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { startLoop } from '../background-loop.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { messageOf } from '../thrown.ts';
import { dayMs } from '../time.ts';
import { defineDaysLeft } from './certificate-metrics.ts';
import { certificateCheckMs, certificateWarningDays } from './limits.ts';

/** PEM. */
export interface KeyPair {
  cert: Buffer;
  key: Buffer;
}

/** Reloaded when its files change. Disposing stops watching them. */
export interface Certificate extends AsyncDisposable {
  readonly initial: KeyPair;
  /** Calls `use` with each valid pair that replaces the initial one. */
  onRenewal(use: (pair: KeyPair) => void): void;
}

interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

/**
 * The certificate of `TLS_CERT_FILE` and `TLS_KEY_FILE`, reloaded when a file changes.
 * @returns undefined when neither is set: clear text.
 * @throws ConfigError when the files cannot be read or do not match.
 */
export async function openCertificate(
  { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: Pick<Config, 'TLS_CERT_FILE' | 'TLS_KEY_FILE'>,
  log: Logger,
): Promise<Certificate | undefined> {
  if (certFile === undefined || keyFile === undefined) return undefined;
  const files = { certFile, keyFile };
  const initial = await readPair(files);
  const resources = new AsyncDisposableStack();
  const served = resources.use(watchExpiry(initial.cert, log));
  return {
    initial,
    onRenewal(use) {
      const renew = (pair: KeyPair) => {
        use(pair);
        served.renew(pair.cert);
      };
      resources.defer(watchPair(files, log, renew));
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Renewal tools replace files, links or directories, and fs.watch misses some of these. */
function watchPair(files: CertificateFiles, log: Logger, use: (pair: KeyPair) => void): () => void {
  const reload = async () => {
    try {
      use(await readPair(files));
      log.info('certificate reloaded');
    } catch (error) {
      // The files do not match until both are replaced; the second change triggers another reload.
      log.warn({ err: error }, 'the new certificate is not usable; keeping the previous one');
    }
  };
  const onChange = () => void reload();
  const paths = [files.certFile, files.keyFile];
  for (const path of paths) watchFile(path, { interval: certificateCheckMs, persistent: false }, onChange);
  return () => {
    for (const path of paths) unwatchFile(path, onChange);
  };
}

async function readPair({ certFile, keyFile }: CertificateFiles): Promise<KeyPair> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    throw new ConfigError(
      `TLS_CERT_FILE (${certFile}) and TLS_KEY_FILE (${keyFile}) cannot be used: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** Tells when the served certificate expires: in a metric, and in the log once a day when it is near. */
function watchExpiry(cert: Buffer, log: Logger) {
  let expiresAt = expiryOf(cert);
  const readDaysLeft = () => (expiresAt.getTime() - Date.now()) / dayMs;
  defineDaysLeft(readDaysLeft);
  const warn = () => {
    const days = readDaysLeft();
    if (days >= certificateWarningDays) return;
    const details = { expiresAt, days: Math.floor(days) };
    if (days <= 0) log.error(details, 'ALARM: the certificate has expired: clients reject it');
    else log.warn(details, 'the certificate expires soon, and was not renewed');
  };
  const loop = startLoop({ run: warn, intervalMs: dayMs, failure: 'the certificate was not checked' }, log);
  return {
    renew(renewed: Buffer): void {
      const renewedExpiry = expiryOf(renewed);
      // Each of the two files that change is a renewal: the second one changes nothing.
      if (renewedExpiry.getTime() === expiresAt.getTime()) return;
      expiresAt = renewedExpiry;
      warn();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

/** Expiry of the first certificate of a chain, which is the server's. */
const expiryOf = (cert: Buffer): Date => new Date(new X509Certificate(cert).validTo);

/** @returns ISO 8601; undefined when the file cannot be read. */
export function readExpiry(certFile: string): string | undefined {
  try {
    return expiryOf(readFileSync(certFile)).toISOString();
  } catch {
    return undefined;
  }
}
