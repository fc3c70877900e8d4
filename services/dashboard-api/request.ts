import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { endedSessionCookie, readSessionCookie, sessionCookie } from './session-cookie.ts';

/** What procedures may know of the HTTP request that carries their call, and the one thing they may answer beside it. */
export interface RequestFacts {
  /** The session's token from the cookie. */
  token: string | undefined;
  /** The network address of the other side: behind a proxy, the proxy's. */
  address: string;
  /** Whether the request was made by a page of another site. */
  isCrossSite: boolean;
  /** Makes the browser carry this session from now on; undefined makes it forget the one it has. */
  setSession(token: string | undefined): void;
}

export function readRequest(request: IncomingMessage, response: ServerResponse): RequestFacts {
  // A proxy that ends TLS says so. Lying about it only harms the liar, whose browser drops the cookie.
  const secure =
    request.socket instanceof TLSSocket || request.headers['x-forwarded-proto']?.toString() === 'https';
  return {
    token: readSessionCookie(request.headers.cookie),
    address: request.socket.remoteAddress ?? '',
    isCrossSite: isCrossSite(request),
    setSession: (token) => {
      const cookie = token === undefined ? endedSessionCookie(secure) : sessionCookie(token, secure);
      response.setHeader('Set-Cookie', cookie);
    },
  };
}

/**
 * A browser says where a request comes from: in Origin whenever it could change something, and in Sec-Fetch-Site.
 * Clients that are no browsers send neither, and carry no cookies of somebody else's.
 */
function isCrossSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  if (headers.origin === undefined) return false;
  return !URL.canParse(headers.origin) || new URL(headers.origin).host !== headers.host?.toLowerCase();
}
