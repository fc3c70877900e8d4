import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import type { Config } from '../../../platform/config.ts';
import type { Logger } from '../../../platform/log.ts';
import { withTimeout } from '../../../platform/timeout.ts';
import type { Database } from '../../../store/db/database.ts';
import { networkOf } from '../accounts/client-address.ts';
import { dashboardCallTimeoutMs } from '../limits.ts';
import type { Services } from '../trpc/context.ts';
import { type CallRequest, readRequest } from '../trpc/request.ts';
import { openTokenUsers } from './access-tokens.ts';
import { flowCookie, readFlowCookie, returnPath } from './flow-cookie.ts';
import { openIdentityUsers } from './identity-users.ts';
import { callbackPath, type ProvenIdentity, SsoProvider } from './provider.ts';

export type Sso = NonNullable<ReturnType<typeof openSso>>;

/** Why the sign-in page is shown again. `rejected`: the identity may not sign in. */
type SsoFailure = 'rejected' | 'failed' | 'unavailable' | 'too_many_attempts';

/**
 * `GET /auth/sso/start?to=PATH` redirects to the provider, with `again=1` for a new authentication.
 * `GET /auth/sso/callback` opens the session and redirects to the path, or to `/sign-in?sso=REASON`.
 */
export function createSsoRoutes(sso: Sso, log: Logger): Record<string, RequestListener> {
  const guard =
    (run: (request: IncomingMessage, response: ServerResponse) => Promise<void>, late: SsoFailure) =>
    (request: IncomingMessage, response: ServerResponse) => {
      withTimeout(dashboardCallTimeoutMs, run(request, response)).catch((error: unknown) => {
        log.warn({ err: error }, 'single sign-on failed');
        if (!response.headersSent)
          redirect(response, failurePath(sso, late), [flowCookie(sso.publicUrl, undefined)]);
      });
    };
  return {
    '/auth/sso/start': guard((request, response) => start(sso, request, response), 'unavailable'),
    [callbackPath]: guard((request, response) => finish(sso, log, { request, response }), 'failed'),
  };
}

async function start(sso: Sso, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const query = new URLSearchParams(queryOf(request));
  const flow = {
    state: randomState(),
    nonce: randomNonce(),
    codeVerifier: randomPKCECodeVerifier(),
    to: returnPath(query.get('to')),
  };
  const url = await sso.provider.authorizationUrl(flow, query.get('again') === '1');
  redirect(response, url, [flowCookie(sso.publicUrl, flow)]);
}

async function finish(
  sso: Sso,
  log: Logger,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const ended = flowCookie(sso.publicUrl, undefined);
  const flow = readFlowCookie(request.headers.cookie, sso.publicUrl);
  const call = readRequest(request, response, sso.findAddress);
  const network = networkOf(call.address);
  const fail = (reason: SsoFailure) => {
    log.info({ outcome: reason, address: call.address }, 'sign-in');
    redirect(response, failurePath(sso, reason), [ended]);
  };
  // No attempt: a page of another site can send a browser here, and must not block its network.
  if (flow === undefined) return fail('failed');
  if (!sso.attempts.take(network)) return fail('too_many_attempts');
  const identity = await sso.provider.redeem(queryOf(request), flow);
  const token = await openSession(sso, call, identity);
  if (token === undefined) return fail('rejected');
  sso.attempts.giveBack(network);
  call.setSession(token);
  redirect(response, pagePath(sso, flow.to), [ended]);
}

async function openSession(
  { sessions, findUser }: Sso,
  call: CallRequest,
  identity: ProvenIdentity,
): Promise<string | undefined> {
  const id = await findUser(identity, call.address);
  if (id === undefined) return undefined;
  const { authenticatedAt } = identity;
  const token = await sessions.open({ id, authenticatedAt }, call, 'sso');
  // The previous session would otherwise stay in the list of sessions.
  if (token !== undefined && call.token !== undefined) await sessions.close(call.token, call.address);
  return token;
}

function redirect(response: ServerResponse, location: string, cookies: readonly string[]): void {
  for (const cookie of cookies) response.appendHeader('Set-Cookie', cookie);
  response
    .writeHead(302, { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
    .end();
}

function failurePath(sso: Sso, reason: SsoFailure): string {
  return pagePath(sso, `/sign-in?sso=${reason}`);
}

/** The path of a page, below the base path. */
function pagePath({ publicUrl }: Sso, path: string): string {
  return `${publicUrl.slice(new URL(publicUrl).origin.length)}${path}`;
}

function queryOf({ url = '' }: IncomingMessage): string {
  return url.split('?').slice(1).join('?');
}

/** @returns undefined when no OpenID provider is configured. */
export function openSso(
  database: Database,
  config: Config,
  { sessions, tokenAttempts, findAddress }: Services,
) {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, DASHBOARD_PUBLIC_URL } = config;
  // The configuration check guarantees that these are set together.
  if (!OIDC_ISSUER || !OIDC_CLIENT_ID || !OIDC_CLIENT_SECRET || !DASHBOARD_PUBLIC_URL) return undefined;
  const provider = new SsoProvider({
    issuer: OIDC_ISSUER,
    clientId: OIDC_CLIENT_ID,
    clientSecret: OIDC_CLIENT_SECRET,
    publicUrl: DASHBOARD_PUBLIC_URL,
  });
  return {
    issuer: OIDC_ISSUER,
    publicUrl: DASHBOARD_PUBLIC_URL,
    provider,
    findTokenUser: openTokenUsers(database, provider),
    findUser: openIdentityUsers(database, config.OIDC_ALLOWED_DOMAINS),
    sessions,
    /** Failed callbacks by network address. */
    attempts: tokenAttempts,
    findAddress,
  };
}
