import { secondStepTtlMs } from '../second-factor/limits.ts';
import { sessionTtlMs } from './limits.ts';

/** `session` has the token of a session, `step` a sign-in that waits for its second step. */
export type CookieKind = 'session' | 'step';

const ttlsMs: Record<CookieKind, number> = { session: sessionTtlMs, step: secondStepTtlMs };

/** The part of the browser's URL that the cookie depends on. */
export interface CookieSite {
  host: string | undefined;
  /** Whether the browser uses TLS. Without TLS, a browser would discard a Secure cookie. */
  isSecure: boolean;
}

/**
 * Contains the port, because browsers share cookies between ports: two Weirs on one host would sign out each
 * other's users. `__Host-` keeps subdomains from setting it (RFC 6265bis §4.1.3.2).
 */
export function cookieName(kind: CookieKind, { host, isSecure }: CookieSite): string {
  const port = /:(\d{1,5})$/.exec(host ?? '')?.[1] ?? (isSecure ? '443' : '80');
  return `${isSecure ? '__Host-' : ''}weir_${kind}_${port}`;
}

/** A `Set-Cookie` value; undefined deletes the cookie. Scripts cannot read it, other sites not send it. */
export function keptCookie(kind: CookieKind, value: string | undefined, site: CookieSite): string {
  const maxAgeSeconds = value === undefined ? 0 : ttlsMs[kind] / 1_000;
  const secure = site.isSecure ? '; Secure' : '';
  const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${secure}`;
  return `${cookieName(kind, site)}=${value ?? ''}; ${attributes}`;
}

export function readCookie(
  kind: CookieKind,
  header: string | undefined,
  site: CookieSite,
): string | undefined {
  const wanted = cookieName(kind, site);
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === wanted && value) return value;
  }
  return undefined;
}
