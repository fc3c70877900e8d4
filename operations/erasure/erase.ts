import type { NatsConnection } from '@nats-io/transport-node';
import { eq, sql } from 'drizzle-orm';
import type { Database } from '../../lib/db/database.ts';
import { noSpace } from '../../lib/db/limits.ts';
import { quarantine } from '../../lib/db/schema.ts';
import { listBatches } from './candidates.ts';
import { eraseQuarantine } from './erased-quarantine.ts';
import { eraseBatch } from './erased-segments.ts';
import { beginErasure, completeErasure, type Erasure } from './erasure-row.ts';
import { untilStored } from './queue-drain.ts';
import { type Receipt, writeReceipt } from './receipt.ts';
import { rewriteFiles } from './rewritten-files.ts';
import { readStart } from './start.ts';
import type { Subject } from './subject.ts';

export interface EraseOptions {
  readonly subject: Subject;
  readonly reason?: string | undefined;
  /** BACKUP_RETENTION_DAYS. */
  readonly backupRetentionDays?: number | undefined;
  /** Says how far it is. */
  readonly report?: (text: string) => void;
  /** How long it waits for a queue that does not advance. */
  readonly queueStuckMs?: number;
}

/** Another process erases in the same space. */
export class ErasureRunningError extends Error {
  override name = 'ErasureRunningError';
}

/** The first key of the advisory locks of erasures. An arbitrary number. */
const eraseLock = 7_394_213;

/**
 * Erases events of a space (docs/erasure.md): all of the subject that were accepted before it was called. What is accepted later
 * stays. It can be killed at any time: called again with the same subject it goes on.
 *
 * @param database of one connection, without a short statement timeout.
 * @throws ErasureRunningError; QueueStuckError; an error of a driver.
 */
export async function eraseEvents(
  database: Database,
  connection: NatsConnection,
  spaceId: string,
  options: EraseOptions,
): Promise<Receipt> {
  const [lock] = await database.execute<{ isOurs: boolean }>(
    sql`SELECT pg_try_advisory_lock(${eraseLock}, hashtext(${spaceId})) AS "isOurs"`,
  );
  if (lock?.isOurs !== true)
    throw new ErasureRunningError('Another erasure in this space is running. Wait until it is complete.');
  try {
    return await eraseAll(database, connection, spaceId, options);
  } finally {
    await database.execute(sql`SELECT pg_advisory_unlock(${eraseLock}, hashtext(${spaceId}))`);
  }
}

async function eraseAll(
  database: Database,
  connection: NatsConnection,
  spaceId: string,
  { subject, reason, backupRetentionDays, report = () => {}, queueStuckMs }: EraseOptions,
): Promise<Receipt> {
  const start = await readStart(database, connection, spaceId);
  const erasure = await beginErasure(database, spaceId, { subject, reason, start });
  // Most is stored, and is erased whether or not a writer runs.
  await erasePass(database, erasure, report);
  await untilStored(connection, start.watermarks, {
    report: (queued) => report(`waiting for ${queued} messages of the queue to be stored`),
    ...(queueStuckMs !== undefined && { stuckMs: queueStuckMs }),
  });
  const drainedAtMs = Date.now();
  // Again until nothing is found: what was queued at the start may have been stored behind the last pass. No more of it comes.
  let pass = await erasePass(database, erasure, report);
  while (pass.found > 0) pass = await erasePass(database, erasure, report);
  const files = await rewriteFiles(database, erasure, (table) => report(`rewriting ${table}`));
  const unassigned = await countUnassigned(database);
  const notReached = [
    ...pass.damaged.map((id) => `segment ${id} is damaged: its body was left as it is`),
    ...(pass.unreadable === 0 ? [] : [`${pass.unreadable} entries in quarantine cannot be read`]),
    ...(unassigned === 0 ? [] : [`${unassigned} messages in quarantine are of no known space`]),
  ];
  const { counts, completedAt } = await completeErasure(database, erasure);
  const done = { erasure, counts, completedAt, files, drainedAtMs, backupRetentionDays, notReached };
  return writeReceipt(database, done);
}

interface Pass {
  readonly found: number;
  readonly damaged: readonly string[];
  readonly unreadable: number;
}

/**
 * Erases what is in the database now. The quarantine comes first: its events go into segments when they are replayed, and never
 * back.
 */
async function erasePass(
  database: Database,
  erasure: Erasure,
  report: (text: string) => void,
): Promise<Pass> {
  const { events, unreadable } = await eraseQuarantine(database, erasure);
  let found = events;
  const damaged: string[] = [];
  for await (const batch of listBatches(database, erasure)) {
    const erased = await eraseBatch(database, erasure, batch);
    found += erased.events;
    damaged.push(...erased.damaged);
    if (erased.events > 0) report(`${found.toLocaleString('en')} events erased`);
  }
  return { found, damaged, unreadable };
}

/** Messages that could not be decoded: nobody can tell whose they are. */
async function countUnassigned(database: Database): Promise<number> {
  return database.$count(quarantine, eq(quarantine.spaceId, noSpace));
}
