import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FindAddress } from '../accounts/client-address.ts';
import { keptCookie, readCookie } from '../accounts/cookie.ts';
import { userAgentCharsMax } from '../accounts/limits.ts';
import type { SlotHolder } from '../fair-slots.ts';
import type { OpenStreams } from '../live/open-streams.ts';
import { noteSender, type Sender } from '../request-log.ts';

/** What procedures read from the HTTP request of their call, and what they may set on its response. */
export interface CallRequest {
  /** The sender for the log. The user is added once known. */
  sender: Sender;
  /** The session's token from the cookie. */
  token: string | undefined;
  readKey: string | undefined;
  /** The sealed sign-in that waits for its second step, from its cookie. */
  step: string | undefined;
  host: string | undefined;
  /** The network address of the client, or of an untrusted proxy in front of it. */
  address: string;
  /** The User-Agent header, truncated. */
  userAgent: string | null;
  /** Whether a page of another site sent the request. */
  isCrossSite: boolean;
  /** Sets the browser's session cookie; undefined deletes it. */
  setSession(token: string | undefined): void;
  /** Sets the cookie of a sign-in that waits for its second step; undefined deletes it. */
  setStep(step: string | undefined): void;
  beginStream(streams: OpenStreams, holder: SlotHolder): Disposable;
}

export function readRequest(
  request: IncomingMessage,
  response: ServerResponse,
  findAddress: FindAddress,
): CallRequest {
  // A proxy that terminates TLS sends it. A client that forges it only affects its own cookie.
  const isSecure =
    'encrypted' in request.socket || request.headers['x-forwarded-proto']?.toString() === 'https';
  const site = { host: hostOf(request), isSecure };
  const address = findAddress(request);
  const sender: Sender = { address, userId: undefined };
  noteSender(response, sender);
  return {
    sender,
    readKey: readReadKey(request.headers.authorization),
    token: readCookie('session', request.headers.cookie, site),
    step: readCookie('step', request.headers.cookie, site),
    host: site.host,
    address,
    userAgent: request.headers['user-agent']?.slice(0, userAgentCharsMax) ?? null,
    isCrossSite: isCrossSite(request),
    setSession: (token) => void response.appendHeader('Set-Cookie', keptCookie('session', token, site)),
    setStep: (step) => void response.appendHeader('Set-Cookie', keptCookie('step', step, site)),
    beginStream: (streams, holder) => streams.add(response, holder),
  };
}

/** Reads only keys of Weir: proxies pass their own credentials on, and their users have a session. */
function readReadKey(authorization: string | undefined): string | undefined {
  return /^[ \t]*Bearer +(weir_\S+)[ \t]*$/i.exec(authorization ?? '')?.[1];
}

/** Browsers send Origin with every change, and Sec-Fetch-Site. Others send neither, and no user's cookies. */
function isCrossSite(request: IncomingMessage): boolean {
  const { headers } = request;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  if (headers.origin === undefined) return false;
  return !URL.canParse(headers.origin) || new URL(headers.origin).host !== hostOf(request)?.toLowerCase();
}

/** HTTP/2 has the host in a pseudo-header. */
function hostOf({ headers }: IncomingMessage): string | undefined {
  return headers[':authority']?.toString() ?? headers.host;
}
