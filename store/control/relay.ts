import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { inArray, sql } from 'drizzle-orm';
import { startLoop } from '../../platform/background-loop.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/log.ts';
import { pubAckTimeoutMs } from '../../platform/queue/limits.ts';
import { withTimeout } from '../../platform/timeout.ts';
import type { Database } from '../db/database.ts';
import { controlChanges } from '../db/schema.ts';
import { numberOf } from '../db/statement.ts';
import { type ControlChange, encodeChanges } from './change.ts';
import { messageChangesMax, messageImageBytesMax, relayPauseMs, relayPollMs, relayWaitMs } from './limits.ts';
import { controlStream, ensureControlStream } from './stream.ts';

/**
 * Publishes pending changes by their numbers, and deletes them from Postgres. Any number of processes may do
 * this, and be killed: JetStream drops most repeated changes by their message id, and a reader takes a row's
 * change with the highest number.
 * @returns how many changes were published.
 * @throws a driver's error, or that of nats-server. What was not published stays in Postgres.
 */
export async function relayControlChanges(database: Database, connection: NatsConnection): Promise<number> {
  const client = jetstream(connection);
  let relayed = 0;
  for (;;) {
    const changes = await readPending(database);
    const [first, last] = [changes[0], changes.at(-1)];
    if (first === undefined || last === undefined) return relayed;
    await client.publish(controlStream.subject, encodeChanges(changes), {
      // With a time: a standby that was promoted may give a number a second time.
      msgID: `${first.number}-${last.number}-${changes.length}-${last.at}`,
      timeout: pubAckTimeoutMs,
      expect: { streamName: controlStream.name },
    });
    const numbers = changes.map(({ number }) => number);
    await database.delete(controlChanges).where(inArray(controlChanges.number, numbers));
    relayed += changes.length;
  }
}

/** Whether Postgres has changes that the control stream may not have. */
export async function hasPendingChanges(database: Database): Promise<boolean> {
  const rows = await database.select({ number: controlChanges.number }).from(controlChanges).limit(1);
  return rows.length > 0;
}

/** The oldest changes, as many as one message takes, and at least one. */
async function readPending(database: Database): Promise<ControlChange[]> {
  const { number, at, tableName, operation, image } = controlChanges;
  return database.execute<ControlChange>(sql`
    SELECT number::float8 AS number, at, "table", operation, image FROM (
      SELECT ${number}, to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, ${tableName} AS "table", ${operation},
        ${image}::text AS image, row_number() OVER oldest AS place, sum(octet_length(${image}::text)) OVER oldest AS bytes
      FROM ${controlChanges}
      WINDOW oldest AS (ORDER BY ${number})
      ORDER BY ${number} LIMIT ${numberOf(messageChangesMax)}
    ) AS pending
    WHERE place = 1 OR bytes <= ${numberOf(messageImageBytesMax)}
    ORDER BY number`);
}

export interface AnsweringRelay {
  /** Relays over this connection from now on. Without one nothing is relayed here: writers do it. */
  connect(connection: NatsConnection): void;
  /**
   * Resolves when the stream has every change committed before the call, or after `relayWaitMs`. Never
   * rejects: the changes are in force, and writers relay them later (ADR 32).
   */
  relay(): Promise<void>;
}

/** Calls share relays, but wait for the next one: one that runs may have read the changes before. */
export function openAnsweringRelay(database: Database, log: Logger): AnsweringRelay {
  let connection: NatsConnection | undefined;
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  let pausedUntilMs = 0;
  const start = (through: NatsConnection) => {
    next ??= running.then(() => {
      next = undefined;
      const relaying = relayControlChanges(database, through);
      running = relaying.then(
        () => {},
        () => {},
      );
      return relaying.then(() => {});
    });
    return next;
  };
  return {
    connect(opened) {
      connection = opened;
    },
    async relay() {
      if (connection === undefined || performance.now() < pausedUntilMs) return;
      try {
        await withTimeout(relayWaitMs, start(connection));
      } catch (error) {
        pausedUntilMs = performance.now() + relayPauseMs;
        log.warn(
          { err: error },
          'a change is done, but not in the control stream yet: it would be lost with the database',
        );
      }
    },
  };
}

/**
 * Creates the control stream, and relays what others left: sign-ins, killed processes, programs without
 * queue.
 */
export function startBackgroundRelay({
  database,
  connection,
  config,
  log,
}: {
  database: Database;
  connection: NatsConnection;
  config: Pick<Config, 'NATS_REPLICAS'>;
  log: Logger;
}): AsyncDisposable {
  let isEnsured = false;
  const run = async () => {
    try {
      if (!isEnsured) await ensureControlStream(connection, config);
      isEnsured = true;
      await relayControlChanges(database, connection);
    } catch (error) {
      // The stream may have been deleted.
      isEnsured = false;
      throw error;
    }
  };
  const failure = 'changes are not in the control stream yet; trying again';
  return startLoop({ run, intervalMs: relayPollMs, failure }, log);
}
