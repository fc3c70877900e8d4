import { jetstreamManager } from '@nats-io/jetstream';
import { TRPCError } from '@trpc/server';
import { count, countDistinct, desc, max, min } from 'drizzle-orm';
import { examine } from '../../../operations/doctor/doctor.ts';
import { readStorageSizes } from '../../../operations/storage/storage-sizes.ts';
import type { Config } from '../../../platform/config.ts';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { discoverServices } from '../../../platform/queue/service-discovery.ts';
import { shareResult } from '../../../platform/shared-result.ts';
import { messageOf } from '../../../platform/thrown.ts';
import { withTimeout } from '../../../platform/timeout.ts';
import { hashToken } from '../../../store/accounts/secret-token.ts';
import type { Database } from '../../../store/db/database.ts';
import { noSpace } from '../../../store/db/limits.ts';
import { quarantine } from '../../../store/db/schema.ts';
import { openQueueFigures } from '../../../store/queue-state/queue-figures.ts';
import { readDelays } from '../../../store/store-delays/read-delays.ts';
import { requireSignedIn } from '../access.ts';
import type { SessionUser } from '../accounts/session.ts';
import { refusal } from '../refusal.ts';
import {
  figuresReuseMs,
  listedMax,
  operatorLookupMs,
  operatorMemoryMs,
  rememberedOperatorsMax,
} from './limits.ts';
import { readRetentionState } from './retention-state.ts';

export type Installation = ReturnType<typeof openInstallation>;

/** The installation's state, in parts, so that some are shown while nats-server or Postgres is away. */
export function openInstallation(database: Database, config: Config) {
  return {
    /** @throws QueueAwayError */
    queue: shareResult(figuresReuseMs, () => readQueueState(config)),
    delays: (range: { fromMs: number; toMs: number }) => readDelays(database, noSpace, range),
    storage: shareResult(figuresReuseMs, () => readStorageSizes(database, Date.now())),
    retention: shareResult(figuresReuseMs, () => readRetentionState(database, config.RETENTION_DAYS_MAX)),
    quarantine: shareResult(figuresReuseMs, () => readQuarantineReasons(database)),
    /** What `weir doctor` finds. Never rejects: what cannot be reached is a finding. */
    doctor: shareResult(figuresReuseMs, () => examine(config)),
  };
}

export type QuarantineReason = Awaited<ReturnType<typeof readQuarantineReasons>>[number];

/** Rejected events by SQLSTATE, of all spaces. Messages of Postgres can quote values of events. */
async function readQuarantineReasons(database: Database) {
  const { sqlstate, spaceId, quarantinedAt } = quarantine;
  const rows = await database
    .select({
      sqlstate,
      entries: count(),
      spaces: countDistinct(spaceId),
      oldestAt: min(quarantinedAt),
      newestAt: max(quarantinedAt),
    })
    .from(quarantine)
    .groupBy(sqlstate)
    .orderBy(desc(count()))
    .limit(listedMax);
  return rows.map(({ oldestAt, newestAt, ...reason }) => ({
    ...reason,
    oldestAt: oldestAt?.toISOString() ?? '',
    newestAt: newestAt?.toISOString() ?? '',
  }));
}

/** nats-server does not answer, or is not configured. The message is for an operator. */
export class QueueAwayError extends Error {
  override name = 'QueueAwayError';
}

/**
 * Reads over a separate connection: the one for notifications is made again in the background, and reads
 * would wait.
 * @throws QueueAwayError
 */
async function readQueueState(config: Pick<Config, 'NATS_URL'>) {
  if (config.NATS_URL === undefined)
    throw new QueueAwayError('NATS_URL is not set for the dashboard API, so it cannot ask nats-server.');
  await using connection = await connectQueue(config.NATS_URL, 'weir-dashboard-api-operator').catch(
    (cause: unknown) => {
      throw new QueueAwayError('nats-server does not answer: events are neither accepted nor stored.', {
        cause,
      });
    },
  );
  try {
    const readStreams = openQueueFigures(await jetstreamManager(connection, { checkAPI: false }));
    const [streams, services] = await Promise.all([readStreams(), discoverServices(connection)]);
    return { streams, services };
  } catch (error) {
    throw new QueueAwayError(`nats-server answers, but the queue cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

export type Operators = ReturnType<typeof openOperators>;

/**
 * Checks that a call comes from an operator. While Postgres does not answer, when an operator needs the state
 * of the queue, sessions that it confirmed within `operatorMemoryMs` are let in.
 * @param now the clock, in milliseconds.
 */
export function openOperators(now: () => number) {
  /** When Postgres last confirmed a session, by the hash of its token; the oldest first. */
  const confirmed = new Map<string, number>();
  return {
    /**
     * @param find looks the session of the token up in Postgres.
     * @throws TRPCError UNAUTHORIZED without a session, FORBIDDEN for other users; what `find` throws while
     * Postgres is away.
     */
    async require(token: string | undefined, find: () => Promise<SessionUser | undefined>): Promise<void> {
      const key = token === undefined ? '' : hashToken(token).toString('hex');
      try {
        const user = requireSignedIn(await withTimeout(operatorLookupMs, find()));
        confirmed.delete(key);
        if (!user.isOperator)
          throw refusal(
            'FORBIDDEN',
            'Only operators of the installation can see this. The command weir user operator makes a user one.',
          );
        confirmed.set(key, now());
        const [oldest] = confirmed.keys();
        if (confirmed.size > rememberedOperatorsMax && oldest !== undefined) confirmed.delete(oldest);
      } catch (error) {
        // A TRPCError is an answer of Postgres: who calls is known, and may not.
        if (error instanceof TRPCError) confirmed.delete(key);
        const sinceMs = now() - (confirmed.get(key) ?? -Infinity);
        if (sinceMs > operatorMemoryMs) throw error;
      }
    },
  };
}
