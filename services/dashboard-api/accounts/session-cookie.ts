import { sessionTtlMs } from '../limits.ts';

/** The part of the browser's URL that the cookie depends on. */
export interface CookieSite {
  /** The Host header. */
  host: string | undefined;
  /** Whether the browser uses TLS. Without TLS, a browser would discard a Secure cookie. */
  isSecure: boolean;
}

/**
 * The cookie's name. It contains the port, because browsers share cookies between ports: otherwise two Weirs on one host would sign
 * out each other's users. Under TLS the `__Host-` prefix prevents subdomains from setting it (RFC 6265bis §4.1.3.2).
 */
export function sessionCookieName({ host, isSecure }: CookieSite): string {
  const port = /:(\d{1,5})$/.exec(host ?? '')?.[1] ?? (isSecure ? '443' : '80');
  return `${isSecure ? '__Host-' : ''}weir_session_${port}`;
}

/** The `Set-Cookie` value for a session's token. Scripts cannot read the cookie, and requests from other sites do not send it. */
export function sessionCookie(token: string, site: CookieSite): string {
  return setCookie(token, sessionTtlMs / 1_000, site);
}

/** The `Set-Cookie` value that makes the browser delete its session cookie. */
export function endedSessionCookie(site: CookieSite): string {
  return setCookie('', 0, site);
}

/** Reads the session's token from a `Cookie` header. */
export function readSessionCookie(header: string | undefined, site: CookieSite): string | undefined {
  const cookieName = sessionCookieName(site);
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === cookieName && value) return value;
  }
  return undefined;
}

function setCookie(value: string, maxAgeSeconds: number, site: CookieSite): string {
  const secure = site.isSecure ? '; Secure' : '';
  const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${secure}`;
  return `${sessionCookieName(site)}=${value}; ${attributes}`;
}
