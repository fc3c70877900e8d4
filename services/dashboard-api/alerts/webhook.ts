import { createHmac } from 'node:crypto';
import { lookup as resolve } from 'node:dns';
import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './addresses.ts';
import { deliveryTimeoutMs } from './limits.ts';

/** The address may not be called: it is not public, or not HTTPS. */
export class ForbiddenTargetError extends Error {
  override name = 'ForbiddenTargetError';
}

export interface Post {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly isPrivateAllowed: boolean;
}

/**
 * Posts JSON to an address that a user has chosen. Without `isPrivateAllowed` only by HTTPS, to one of the
 * checked public addresses of the name. Follows no redirects, and reads only the status.
 * @throws ForbiddenTargetError; Error for another status than 2xx, a time-out or a failed connection.
 */
export async function postJson({ url, headers, body, isPrivateAllowed }: Post): Promise<void> {
  const target = new URL(url);
  if (!isPrivateAllowed) requirePublic(target);
  const post = target.protocol === 'https:' ? requestHttps : requestHttp;
  const request = post(target, {
    method: 'POST',
    // No shared connection: the address of this one was checked.
    agent: false,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': 'Weir',
      ...headers,
    },
    signal: AbortSignal.timeout(deliveryTimeoutMs),
    ...(!isPrivateAllowed && { lookup: lookupPublic }),
  });
  request.end(body);
  const [response]: IncomingMessage[] = await once(request, 'response');
  const status = response?.statusCode ?? 0;
  request.on('error', () => {});
  request.destroy();
  if (status < 200 || status > 299) throw new Error(`The receiver answered ${status}.`);
}

/** Node does not look up a host that is an IP address. */
function requirePublic({ protocol, hostname }: URL): void {
  if (protocol !== 'https:') throw new ForbiddenTargetError('The address must begin with https://.');
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0 && !isPublicAddress(host))
    throw new ForbiddenTargetError('The address is not on the public internet.');
}

/** Fails when one of the name's addresses is not public. */
const lookupPublic: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 0);
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(new ForbiddenTargetError('The address is not on the public internet.'), '', 0);
    if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

/** HMAC-SHA256 over the timestamp, a dot, and the body. */
export function signWebhook(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}
