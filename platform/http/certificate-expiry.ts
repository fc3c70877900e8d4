import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { startLoop } from '../background-loop.ts';
import type { Logger } from '../log.ts';
import { dayMs } from '../time.ts';
import { defineDaysLeft } from './certificate-metrics.ts';
import { certificateWarningDays } from './limits.ts';

/** The certificate that a service serves now. */
export interface ServedCertificate extends AsyncDisposable {
  /** Called with the one that replaces it. */
  renew(cert: Buffer): void;
}

/** Tells when the served certificate expires: in a metric, and in the log once a day when it is near. */
export function watchExpiry(cert: Buffer, log: Logger): ServedCertificate {
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
    renew(renewed) {
      const renewedExpiry = expiryOf(renewed);
      // Each of the two files that change is a renewal: the second one changes nothing.
      if (renewedExpiry.getTime() === expiresAt.getTime()) return;
      expiresAt = renewedExpiry;
      warn();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

/** Of the first certificate of a chain: that of the server. */
const expiryOf = (cert: Buffer): Date => new Date(new X509Certificate(cert).validTo);

/** @returns when the certificate of a file expires, ISO 8601; undefined when it cannot be read. */
export function readExpiry(certFile: string): string | undefined {
  try {
    return expiryOf(readFileSync(certFile)).toISOString();
  } catch {
    return undefined;
  }
}
