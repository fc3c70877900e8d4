import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FindAddress } from '../accounts/client-address.ts';
import { endedSessionCookie, readSessionCookie, sessionCookie } from '../accounts/session-cookie.ts';
import { userAgentCharsMax } from '../limits.ts';
import type { OpenStreams } from '../live/open-streams.ts';
import { noteSender, type Sender } from '../request-log.ts';

/** What procedures know of the HTTP request that carries their call, and what they may set on its response. */
export interface RequestFacts {
  /** What the log says of who sent the request. The user is noted when it is known. */
  sender: Sender;
  /** The session's token, from the cookie. */
  token: string | undefined;
  /** The network address of the client; behind a proxy that is not trusted, that of the proxy. */
  address: string;
  /** The User-Agent header, as far as it is kept. */
  userAgent: string | null;
  /** Whether a page of another site made the request. */
  isCrossSite: boolean;
  /** Sets the browser's session cookie; undefined deletes it. */
  setSession(token: string | undefined): void;
  /** Makes the response one of the open streams. @throws TRPCError when the service is stopping. */
  beginStream(streams: OpenStreams): void;
}

export function readRequest(
  request: IncomingMessage,
  response: ServerResponse,
  findAddress: FindAddress,
): RequestFacts {
  // A proxy that terminates TLS sends X-Forwarded-Proto. A client that forges it only loses its own cookie.
  const isSecure =
    'encrypted' in request.socket || request.headers['x-forwarded-proto']?.toString() === 'https';
  const site = { host: hostOf(request), isSecure };
  const address = findAddress(request);
  const sender: Sender = { address, userId: undefined };
  noteSender(response, sender);
  return {
    sender,
    token: readSessionCookie(request.headers.cookie, site),
    address,
    userAgent: request.headers['user-agent']?.slice(0, userAgentCharsMax) ?? null,
    isCrossSite: isCrossSite(request),
    setSession: (token) => {
      const cookie = token === undefined ? endedSessionCookie(site) : sessionCookie(token, site);
      response.setHeader('Set-Cookie', cookie);
    },
    beginStream: (streams) => streams.add(response),
  };
}

/**
 * Browsers send Origin with every request that could change something, and Sec-Fetch-Site. Other clients send neither,
 * and cannot be made to send a user's cookies.
 */
function isCrossSite(request: IncomingMessage): boolean {
  const { headers } = request;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  if (headers.origin === undefined) return false;
  return !URL.canParse(headers.origin) || new URL(headers.origin).host !== hostOf(request)?.toLowerCase();
}

/** The host and port that the client asked for. HTTP/2 has it in a pseudo-header. */
function hostOf({ headers }: IncomingMessage): string | undefined {
  return headers[':authority']?.toString() ?? headers.host;
}
