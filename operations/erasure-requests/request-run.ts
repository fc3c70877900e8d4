import type { NatsConnection } from '@nats-io/transport-node';
import { and, eq, getTableName, lte, type SQL, sql } from 'drizzle-orm';
import { tryAdvisoryLock } from '../../store/db/advisory-lock.ts';
import type { Database } from '../../store/db/database.ts';
import { auditLog, erasureRequests, erasures } from '../../store/db/schema.ts';
import { StatementsRunningError } from '../../store/retention/older-snapshots.ts';
import { NodeAwayError } from '../erasure/cluster/all-nodes.ts';
import { TransactionInDoubtError } from '../erasure/cluster/in-doubt.ts';
import { ErasureRunningError, eraseEvents } from '../erasure/erase.ts';
import { previewErasure } from '../erasure/preview.ts';
import { QueueStuckError } from '../erasure/queue-drain.ts';
import type { Receipt } from '../erasure/receipt.ts';
import { vacuumFull } from '../erasure/rewritten-files.ts';
import type { EventsSubject, Subject } from '../erasure/subject.ts';
import { findSubject } from './found-subject.ts';
import { requestRetryMs } from './limits.ts';
import type { RequestWork } from './requests.ts';
import { beginDeletion } from './space-deletion.ts';
import { deleteSpaceRows } from './space-rows.ts';

export interface RequestRunDependencies {
  /** With one connection and no short statement time-out: it holds advisory locks. */
  readonly erasing: Database;
  /** For progress, while the other connection is busy. */
  readonly database: Database;
  readonly connection: NatsConnection;
  readonly backupRetentionDays: number | undefined;
}

/** First key of the advisory locks of requests. The number is arbitrary. */
const requestLock = 7_394_214;

const requestTable = getTableName(erasureRequests);

/**
 * Runs a requested erasure as `weir erase` does, in one of several writers. The next writer resumes after a
 * kill.
 * @returns the receipt; undefined when another process runs it, or another erasure in the space.
 * @throws the failure of the attempt, which is recorded in the request; the request is tried again later.
 */
export async function runRequest(
  dependencies: RequestRunDependencies,
  request: { spaceId: string; id: string },
): Promise<Receipt | undefined> {
  const { erasing } = dependencies;
  await using lock = await tryAdvisoryLock(erasing, sql`${requestLock}, hashtext(${request.id})`);
  return lock && (await runLocked(dependencies, request));
}

async function runLocked(
  { erasing, database, connection, backupRetentionDays }: RequestRunDependencies,
  { spaceId, id }: { spaceId: string; id: string },
): Promise<Receipt | undefined> {
  const isRow = and(eq(erasureRequests.spaceId, spaceId), eq(erasureRequests.id, id));
  const [row, known] = (await beginRequest(erasing, isRow)) ?? [];
  // Completed by another writer since it was listed, or the deletion of a space was taken back.
  if (row === undefined) return undefined;
  const change = (values: Partial<typeof erasureRequests.$inferInsert>) =>
    database.update(erasureRequests).set(values).where(isRow);
  const progress = openProgress(async (text) => {
    await change({ progress: text });
  });
  try {
    const subject =
      known ?? (await findSubject(erasing, connection, { request: row, report: progress.report }));
    if (subject === undefined) return await endRequest(erasing, row);
    if (row.expectedEvents === null) {
      const { events, quarantineEvents } = await previewErasure(erasing, spaceId, { subject });
      await change({ expectedEvents: events + quarantineEvents });
    }
    return await eraseEvents({ database: erasing, connection }, spaceId, {
      subject,
      reason: row.reason ?? undefined,
      backupRetentionDays,
      request: { id, requestedBy: row.requestedBy },
      ...(subject.kind === 'space' && { deleteRows: deleteSpaceRows }),
      report: progress.report,
    });
  } catch (error) {
    if (error instanceof ErasureRunningError) return undefined;
    const failure =
      error instanceof QueueStuckError
        ? 'Events that were accepted before are still in the queue.'
        : error instanceof StatementsRunningError
          ? 'A statement that began before the deletion is still running.'
          : error instanceof TransactionInDoubtError
            ? 'A transaction is in doubt on a node of the cluster.'
            : error instanceof NodeAwayError
              ? 'A node of the cluster is away.'
              : 'The erasure failed. The log of the writer says why.';
    const attemptAt = sql`now() + ${requestRetryMs}::float8 * interval '1 millisecond'`;
    await database.update(erasureRequests).set({ failure, attemptAt }).where(isRow);
    throw error;
  } finally {
    await progress.settled();
  }
}

/** Notes that a due request begins. From then on the deletion of a space cannot be taken back. */
async function beginRequest(erasing: Database, isRow: SQL | undefined) {
  return erasing.transaction(async (transaction) => {
    const { startedAt, attemptAt } = erasureRequests;
    const [row] = await transaction
      .update(erasureRequests)
      .set({ startedAt: sql`coalesce(${startedAt}, now())`, failure: null })
      .where(and(isRow, lte(attemptAt, sql`now()`)))
      .returning();
    if (row === undefined) return undefined;
    const subject: Subject | undefined =
      row.subject === 'space'
        ? { kind: 'space', name: (await beginDeletion(transaction, row.spaceId, row)).name }
        : subjectOf({ ...row, subject: row.subject });
    return [row, subject] as const;
  });
}

/** Ends a request taken up by a restore, when its subject was erased before or deleted by retention. */
async function endRequest(
  erasing: Database,
  { spaceId, id, subject, requestedBy }: typeof erasureRequests.$inferSelect,
): Promise<undefined> {
  await erasing.transaction(async (transaction) => {
    await transaction
      .delete(erasureRequests)
      .where(and(eq(erasureRequests.spaceId, spaceId), eq(erasureRequests.id, id)));
    const details = { subject, events: 0 };
    await transaction
      .insert(auditLog)
      .values({ spaceId, actor: requestedBy, action: 'erasure.complete', target: id, details });
  });
}

/** Writes the latest text, one write at a time: a large erasure reports faster than that. */
function openProgress(write: (text: string) => Promise<void>) {
  let latest: string | undefined;
  let writing = Promise.resolve();
  let isWriting = false;
  const writeLatest = async () => {
    for (let text = latest; text !== undefined; text = latest) {
      latest = undefined;
      // For display only.
      await write(text).catch(() => {});
    }
    isWriting = false;
  };
  return {
    report: (text: string) => {
      latest = text;
      if (isWriting) return;
      isWriting = true;
      writing = writeLatest();
    },
    settled: () => writing,
  };
}

/**
 * Rewrites the table of requests, so that no file names the users and threads of completed ones.
 * @returns false while a long query may still read the old rows: try again later.
 */
export async function rewriteRequests(
  erasing: Database,
  unwritten: RequestWork['unwritten'],
): Promise<boolean> {
  if (!(await vacuumFull(erasing, requestTable))) return false;
  // Only those that were deleted before.
  for (const { spaceId, id } of unwritten)
    await erasing
      .update(erasures)
      .set({ unwritten: sql`array_remove(${erasures.unwritten}, ${requestTable})` })
      .where(and(eq(erasures.spaceId, spaceId), eq(erasures.id, id)));
  return true;
}

function subjectOf({
  subject,
  value,
  beforeMs,
}: Pick<typeof erasureRequests.$inferSelect, 'value' | 'beforeMs'> & { subject: EventsSubject['kind'] }):
  | EventsSubject
  | undefined {
  if (subject === 'before') return beforeMs === null ? undefined : { kind: subject, timeMs: beforeMs };
  return value === null ? undefined : { kind: subject, value };
}
