import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Config } from '../config.ts';
import { messageOf } from '../thrown.ts';
import { ConfigError } from './config-error.ts';

/**
 * Lets every TLS client of this process trust the CAs of `TLS_CA_FILE`, beside those that Node trusts. For
 * before the first connection. @throws ConfigError when the file cannot be read, or has no certificates.
 */
export function trustCertificates({ TLS_CA_FILE: file }: Pick<Config, 'TLS_CA_FILE'>): void {
  if (file === undefined) return;
  try {
    const own = readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs);
    if (own === null) throw new Error('it has no certificate in PEM');
    createSecureContext({ ca: own });
    setDefaultCACertificates([...new Set([...getCACertificates('default'), ...own])]);
  } catch (error) {
    throw new ConfigError(`TLS_CA_FILE (${file}) cannot be used: ${messageOf(error)}.`, { cause: error });
  }
}
