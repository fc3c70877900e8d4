import type { NatsConnection } from '@nats-io/transport-node';
import { eq, sql } from 'drizzle-orm';
import { asStored } from '../../event/text.ts';
import { tryAdvisoryLock } from '../../store/db/advisory-lock.ts';
import type { Database } from '../../store/db/database.ts';
import { layoutOf } from '../../store/db/layout/layout.ts';
import { noSpace } from '../../store/db/limits.ts';
import { quarantine } from '../../store/db/schema.ts';
import { untilStatementsEnded } from '../../store/retention/older-snapshots.ts';
import { TraceResolver } from '../../store/traces/trace-resolver.ts';
import { hasUnresolved } from '../../store/traces/unresolved-traces.ts';
import { forgetValues } from '../../store/write/statistics/forget-values.ts';
import { listBatches } from './candidates.ts';
import { untilNodesAnswer } from './cluster/all-nodes.ts';
import { statisticsTable } from './cluster/cluster-files.ts';
import { untilNoneInDoubt } from './cluster/in-doubt.ts';
import { eraseThreadNotes } from './erased-attachments.ts';
import { eraseNodes } from './erased-nodes.ts';
import { eraseQuarantine } from './erased-quarantine.ts';
import { eraseBatch } from './erased-segments.ts';
import { beginErasure, completeErasure, countErased, type Erasure } from './erasure-row.ts';
import { forgottenByQueue, untilStored } from './queue-drain.ts';
import { type Receipt, storedReceipt, writeReceipt } from './receipt.ts';
import { rewriteFiles } from './rewritten-files.ts';
import { readStart } from './start.ts';
import type { Subject } from './subject.ts';

export interface EraseOptions {
  readonly subject: Subject;
  readonly reason?: string | undefined;
  readonly backupRetentionDays?: number | undefined;
  /** For a deleted space: deletes what it has besides its events. */
  readonly deleteRows?: (
    database: Database,
    erasure: Erasure,
    report: (text: string) => void,
  ) => Promise<void>;
  readonly report?: (text: string) => void;
  /** The served request in the dashboard, deleted with the completion. Without it the operator erases. */
  readonly request?: { readonly id: string; readonly requestedBy: string };
}

export class ErasureRunningError extends Error {
  override name = 'ErasureRunningError';
}

interface ErasureServers {
  /** With one connection and no short statement time-out. */
  readonly database: Database;
  readonly connection: NatsConnection;
}

/** First key of the advisory locks of erasures. The number is arbitrary. */
const eraseLock = 7_394_213;

/**
 * Erases all events of the subject that were accepted before the call (docs/data-lifecycle.md#erasure). Can
 * be killed at any time; a call with the same subject resumes the erasure.
 * @throws ErasureRunningError, NodeAwayError, QueueStuckError, TransactionInDoubtError, or a driver error.
 */
export async function eraseEvents(
  { database, connection }: ErasureServers,
  spaceId: string,
  options: EraseOptions,
): Promise<Receipt> {
  await using lock = await tryAdvisoryLock(database, sql`${eraseLock}, hashtext(${spaceId})`);
  if (lock === undefined)
    throw new ErasureRunningError('Another erasure in this space is running. Wait until it is complete.');
  return await eraseAll({ database, connection }, spaceId, options);
}

async function eraseAll(
  { database, connection }: ErasureServers,
  spaceId: string,
  { subject, reason, backupRetentionDays, report = () => {}, request, deleteRows }: EraseOptions,
): Promise<Receipt> {
  await untilNodesAnswer(database, report);
  if (subject.kind === 'space') await untilStatementsEnded(database);
  const start = await readStart(database, connection, spaceId);
  const erasure = await beginErasure(database, spaceId, { subject, reason, start, request });
  // Most events are already stored: erasing them first needs no running writer.
  await erasePass(database, erasure, report);
  await untilStored(connection, start.watermarks, report);
  const drainedAtMs = Date.now();
  await untilNoneInDoubt(database, spaceId, report);
  const isSpace = subject.kind === 'space';
  const failed = isSpace ? new Set<string>() : await resolveStored(database, spaceId, drainedAtMs);
  // Until a pass finds nothing: queued messages, a finite number, may have been stored after the last pass.
  let pass = await erasePass(database, erasure, report);
  while (pass.found > 0) pass = await erasePass(database, erasure, report);
  if (deleteRows !== undefined) await deleteRows(database, erasure, report);
  else await eraseBeside(database, erasure, report);
  const files = await rewriteFiles(database, erasure, (table) => report(`rewriting ${table}`));
  const notReached = describeLeft({
    failed,
    damaged: pass.damaged,
    unreadable: isSpace ? 0 : pass.unreadable,
    unassigned: await countUnassigned(database),
  });
  const { atMs: startMs, watermarks } = start;
  const queue = await forgottenByQueue(database, connection, { startMs, drainedAtMs, watermarks });
  const layout = await layoutOf(database);
  const input = { erasure, layout, files, queue, backupRetentionDays, notReached };
  return completeErasure(database, erasure, async (transaction, done) => {
    const receipt = await writeReceipt(transaction, { ...input, ...done });
    return { receipt, stored: { ...storedReceipt(receipt) } };
  });
}

/** Erases what the space has of the subject besides events: spans, notes on a thread, and statistics. */
async function eraseBeside(
  database: Database,
  erasure: Erasure,
  report: (text: string) => void,
): Promise<void> {
  const { spaceId, subject, start } = erasure;
  const nodes = await eraseNodes(database, erasure);
  if (nodes > 0) report(`${nodes.toLocaleString('en')} spans of traces cleared`);
  if (subject.kind === 'thread') await eraseThreadNotes(database, erasure, asStored(subject.value));
  const userId = subject.kind === 'user' ? subject.value : undefined;
  await forgetValues(database, { spaceId, userId, beforeMs: start.atMs }, (transaction, tables) =>
    countErased(transaction, erasure, { unwritten: [...tables, statisticsTable] }),
  );
}

function describeLeft({
  failed,
  damaged,
  unreadable,
  unassigned,
}: Omit<Pass, 'found'> & { failed: ReadonlySet<string>; unassigned: number }): string[] {
  return [
    ...Array.from(
      failed,
      (id) => `trace ${id} cannot be resolved: its events may lack the user and thread of spans`,
    ),
    ...damaged.map((id) => `segment ${id} is damaged: its body was not changed`),
    ...(unreadable === 0 ? [] : [`${unreadable} entries in quarantine cannot be read`]),
    ...(unassigned === 0 ? [] : [`${unassigned} messages in quarantine belong to no known space`]),
  ];
}

/**
 * Gives stored events the users and threads that only spans above them name, also while a writer does so, and
 * until no trace waits that was unresolved at this time.
 * @returns the traces that cannot be resolved.
 */
async function resolveStored(database: Database, spaceId: string, sinceMs: number): Promise<Set<string>> {
  const failed = new Set<string>();
  const onError = (_error: unknown, { traceId }: { traceId: string }) => failed.add(traceId);
  const resolver = new TraceResolver(database, { spaceId, onError });
  while (!(await resolver.run()) && (await hasUnresolved(database, spaceId, sinceMs)));
  return failed;
}

type Pass = Awaited<ReturnType<typeof erasePass>>;

/** Erases what is stored. The quarantine first: a replay moves its events into segments, nothing back. */
async function erasePass(database: Database, erasure: Erasure, report: (text: string) => void) {
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

/** Messages that could not be decoded, so their space is unknown. */
async function countUnassigned(database: Database): Promise<number> {
  return database.$count(quarantine, eq(quarantine.spaceId, noSpace));
}
