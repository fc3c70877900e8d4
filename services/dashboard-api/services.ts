import type { ConfigWith } from '../../platform/config.ts';
import { type Caller, type FairLimiter, openFairLimiter } from '../../platform/fair-limiter.ts';
import type { Limiter } from '../../platform/limiter.ts';
import type { Logger } from '../../platform/log.ts';
import type { SpaceShares } from '../../platform/metrics/space-metrics.ts';
import { createOwnedSpace } from '../../store/accounts/spaces.ts';
import { type Database, limitQueries } from '../../store/db/database.ts';
import { OpenBytes } from '../../store/segments/open-segments.ts';
import { createFindAddress } from './accounts/client-address.ts';
import { openInvitations } from './accounts/invitations.ts';
import { signInKeysMax, signInWindowMs, tokenAttemptsMax } from './accounts/limits.ts';
import { openPasswordChange } from './accounts/password-change.ts';
import { RateLimiter } from './accounts/rate-limiter.ts';
import { openReadKeys } from './accounts/read-keys.ts';
import { SecondStep } from './accounts/second-step.ts';
import { openSessions } from './accounts/session.ts';
import { openSessionList } from './accounts/session-list.ts';
import { openLinkRedemption, openSignIn } from './accounts/sign-in.ts';
import { openInstallation, openOperators } from './installation/installation.ts';
import {
  chartLimits,
  exportOpenBytesMax,
  noteCallsPerMinuteMax,
  noteSpacesCounted,
  openingLimits,
  searchLimits,
  spaceQueryLimits,
  spacesOwnedMax,
} from './limits.ts';
import { LiveStreams } from './live/live-streams.ts';
import { OpenStreams } from './live/open-streams.ts';
import { openSeal } from './seal.ts';
import { openSecondFactor } from './second-factor/open-second-factor.ts';
import { findPasskeySite } from './second-factor/passkey-site.ts';
import type { SpaceData } from './space-data.ts';
import type { Services } from './trpc/context.ts';

/**
 * A database through several pools, so that reads of spaces delay no sign-ins, session checks or operators.
 */
export interface DashboardDatabases {
  readonly spaces: Database;
  readonly accounts: Database;
  /** For operators of the installation. */
  readonly installation: Database;
}

/** Postgres need not be reachable yet. */
export async function openServices(
  { spaces, accounts: database, installation }: DashboardDatabases,
  config: ConfigWith<'API_KEY_PEPPER'>,
  {
    log,
    relayChanges,
    shares,
    searcher,
  }: Pick<Services, 'relayChanges'> & Pick<SpaceData, 'searcher'> & { log: Logger; shares: SpaceShares },
): Promise<Services> {
  const newSpace = { monthlyEventLimit: config.NEW_SPACE_MONTHLY_EVENTS ?? null };
  const streams = new LiveStreams(spaces, log);
  // One after another for each user, so that each counts the ones before.
  const creations = openFairLimiter({ ...spaceQueryLimits, atOnceOfSpaceMax: 1 });
  return {
    relayChanges,
    ...(await openSignInServices(database, config, log)),
    readKeys: openReadKeys(database, config.API_KEY_PEPPER),
    filterSeal: openSeal(config.API_KEY_PEPPER, 'filter'),
    findAddress: createFindAddress(config.TRUSTED_PROXIES),
    noteCalls: new RateLimiter({
      attemptsMax: noteCallsPerMinuteMax,
      windowMs: 60_000,
      keysMax: noteSpacesCounted,
      now,
    }),
    openStreams: new OpenStreams(),
    wakeStreams: (spaceId) => streams.wake(spaceId),
    ...openSpaceServices(spaces, config, { streams, shares, searcher }),
    operators: openOperators(now),
    installation: openInstallation(installation, config),
    createSpace: (name, owner) =>
      creations({ spaceId: owner.id, holderId: owner.id }, () =>
        createOwnedSpace(database, { name, settings: newSpace, owner, ownedMax: spacesOwnedMax }),
      ),
  };
}

const now = () => performance.now();

/** How people sign in, and stay signed in. */
async function openSignInServices(database: Database, config: ConfigWith<'API_KEY_PEPPER'>, log: Logger) {
  const pepper = config.API_KEY_PEPPER;
  const sessions = openSessions(database, { isSecondFactorRequired: config.SECOND_FACTOR_REQUIRED });
  const arePasswordsAllowed = !config.SSO_REQUIRED;
  const secondFactor = openSecondFactor(database, pepper);
  const { useCode } = secondFactor;
  const seal = openSeal(pepper, 'second step');
  const secondStep = new SecondStep({ database, sessions, seal, useCode, arePasswordsAllowed, log, now });
  return {
    sessions,
    secondFactor,
    secondStep,
    findPasskeySite: (host: string | undefined) => findPasskeySite(config.DASHBOARD_PUBLIC_URL, host),
    arePasswordsAllowed,
    ssoName: config.OIDC_ISSUER === undefined ? undefined : config.OIDC_NAME,
    signIn: await openSignIn({ database, sessions, secondStep, log, now }),
    sessionList: openSessionList(database),
    changePassword: openPasswordChange(database, now),
    redeemLink: openLinkRedemption(database, secondStep),
    invitations: openInvitations(database),
    tokenAttempts: new RateLimiter({
      attemptsMax: tokenAttemptsMax,
      windowMs: signInWindowMs,
      keysMax: signInKeysMax,
      now,
    }),
  };
}

/** Statements take turns. */
function openSpaceServices(
  spaces: Database,
  config: ConfigWith<'API_KEY_PEPPER'>,
  { streams, shares, searcher }: Pick<SpaceData, 'streams' | 'searcher'> & { shares: SpaceShares },
): Pick<Services, 'openSpace' | 'openSpaceAdmin'> {
  const noteTime = (spaceId: string, ms: number) => shares.add(spaceId, ms);
  const queries = openFairLimiter(spaceQueryLimits, noteTime);
  const opening = openFairLimiter(openingLimits);
  const search = openFairLimiter(searchLimits);
  const chart = openFairLimiter(chartLimits);
  const turns = openFairLimiter({ ...spaceQueryLimits, atOnceOfSpaceMax: 1 });
  const openBytes = new OpenBytes(exportOpenBytesMax);
  return {
    openSpace: (caller) => ({
      spaceId: caller.spaceId,
      database: limitQueries(spaces, limitFor(caller, queries)),
      streams,
      openingLimiter: limitFor(caller, opening),
      searchLimiter: limitFor(caller, search),
      chartLimiter: limitFor(caller, chart),
      searcher,
      openBytes,
    }),
    openSpaceAdmin: (spaceId, actor) => ({
      database: limitQueries(spaces, limitFor({ spaceId, holderId: actor.id }, queries)),
      spaceId,
      actor,
      pepper: config.API_KEY_PEPPER,
      retentionDaysMax: config.RETENTION_DAYS_MAX,
      alerts: {
        publicUrl: config.DASHBOARD_PUBLIC_URL,
        hasMail: config.SMTP_URL !== undefined,
        isPrivateAllowed: config.ALERT_TARGETS_PRIVATE,
      },
      inTurn: limitFor({ spaceId, holderId: actor.id }, turns),
    }),
  };
}

function limitFor(caller: Caller, limiter: FairLimiter): Limiter {
  return (task) => limiter(caller, task);
}
