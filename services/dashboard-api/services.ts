import { createSpace } from '../../lib/accounts/spaces.ts';
import type { ConfigWith } from '../../lib/config.ts';
import type { Database } from '../../lib/db/database.ts';
import { openLimiter } from '../../lib/limiter.ts';
import type { Logger } from '../../lib/log.ts';
import { createFindAddress } from './accounts/client-address.ts';
import { openInvitations } from './accounts/invitations.ts';
import { openLinkRedemption } from './accounts/link-redemption.ts';
import { openPasswordChange } from './accounts/password-change.ts';
import { RateLimiter } from './accounts/rate-limiter.ts';
import { openSessions } from './accounts/session.ts';
import { openSessionList } from './accounts/session-list.ts';
import { openSignIn } from './accounts/sign-in.ts';
import { openSpaceAdmin } from './admin/space-admin.ts';
import {
  eventsOpenedAtOnceMax,
  searchesAtOnceMax,
  signInPairsMax,
  signInWindowMs,
  tokenAttemptsMax,
} from './limits.ts';
import { LiveStreams } from './live/live-streams.ts';
import { OpenStreams } from './live/open-streams.ts';
import { openSpaceStore } from './spaces/space-store.ts';
import type { Services } from './trpc/context.ts';

/** Opens what the procedures use, on one database. Postgres need not be reachable yet. */
export async function openServices(
  database: Database,
  config: ConfigWith<'API_KEY_PEPPER'>,
  log: Logger,
): Promise<Services> {
  const pepper = config.API_KEY_PEPPER;
  const newSpace = { monthlyEventLimit: config.NEW_SPACE_MONTHLY_EVENTS ?? null };
  const sessions = openSessions(database);
  const streams = new LiveStreams(database, log);
  const store = {
    database,
    streams,
    openingLimiter: openLimiter(eventsOpenedAtOnceMax),
    searchLimiter: openLimiter(searchesAtOnceMax),
  };
  const now = () => performance.now();
  return {
    sessions,
    ssoName: config.OIDC_ISSUER === undefined ? undefined : config.OIDC_NAME,
    findAddress: createFindAddress(config.TRUSTED_PROXIES),
    signIn: await openSignIn({ database, sessions, now }),
    sessionList: openSessionList(database),
    changePassword: openPasswordChange(database, now),
    redeemLink: openLinkRedemption(database, sessions),
    invitations: openInvitations(database),
    tokenAttempts: new RateLimiter({
      attemptsMax: tokenAttemptsMax,
      windowMs: signInWindowMs,
      keysMax: signInPairsMax,
      now,
    }),
    openStreams: new OpenStreams(),
    wakeStreams: (spaceId) => streams.wake(spaceId),
    openSpace: (spaceId) => openSpaceStore(store, spaceId),
    openSpaceAdmin: (spaceId, actor) => openSpaceAdmin({ database, pepper }, spaceId, actor),
    createSpace: async (name, owner) => (await createSpace(database, name, newSpace, owner)).id,
  };
}
