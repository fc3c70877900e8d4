import { sessionTtlMs } from '../../lib/limits.ts';

const cookieName = 'weir_session';

/**
 * The `Set-Cookie` that carries a session's token: out of reach of scripts, and not sent from other sites.
 *
 * @param secure whether the browser speaks TLS. In clear text on loopback a Secure cookie would be dropped.
 */
export function sessionCookie(token: string, secure: boolean): string {
  return setCookie(token, sessionTtlMs / 1_000, secure);
}

/** The `Set-Cookie` that makes the browser forget its session. */
export function endedSessionCookie(secure: boolean): string {
  return setCookie('', 0, secure);
}

/** The session's token out of a `Cookie` header. */
export function readSessionCookie(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === cookieName && value) return value;
  }
  return undefined;
}

function setCookie(value: string, maxAgeSeconds: number, secure: boolean): string {
  const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return `${cookieName}=${value}; ${attributes}`;
}
