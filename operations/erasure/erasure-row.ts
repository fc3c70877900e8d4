import { and, eq, getTableName, isNull, type SQL, sql } from 'drizzle-orm';
import { pick } from '../../platform/pick.ts';
import { operator } from '../../store/accounts/audit/audit.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import { auditLog, erasureRequests, erasures } from '../../store/db/schema.ts';
import type { ErasureStart } from './start.ts';
import { type Subject, termOf } from './subject.ts';

/** A run: an erasure that was interrupted has several. */
export interface Erasure {
  readonly spaceId: string;
  readonly id: string;
  readonly subject: Subject;
  readonly start: ErasureStart;
  readonly reason: string | null;
  /** The request in the dashboard; undefined for `weir erase`. */
  readonly request: ErasureRequester | undefined;
}

export interface ErasureRequester {
  readonly id: string;
  readonly requestedBy: string;
}

/** What has been erased so far, over all runs. */
export type ErasureCounts = Pick<typeof erasures.$inferSelect, (typeof counted)[number]>;

const counted = [
  ...(['events', 'segmentsRewritten', 'segmentsDeleted'] as const),
  ...(['quarantineEvents', 'quarantineRewritten', 'quarantineDeleted', 'notes', 'media'] as const),
];

/**
 * Begins an erasure and audits it, or resumes an interrupted one of the same subject.
 * @param start of this run, whether new or resumed.
 */
export async function beginErasure(
  database: Database,
  spaceId: string,
  begun: Pick<Erasure, 'subject' | 'start' | 'request'> & { readonly reason: string | undefined },
): Promise<Erasure> {
  const { subject, reason, start, request } = begun;
  const term = termOf(spaceId, subject) ?? null;
  const beforeMs = subject.kind === 'before' ? subject.timeMs : null;
  const startedAt = new Date(start.atMs);
  const requestedBy = request?.requestedBy;
  const returned = pick(erasures, 'id', 'reason');
  return database.transaction(async (transaction) => {
    const [continued] = await transaction
      .update(erasures)
      .set({ startedAt, ...(reason !== undefined && { reason }) })
      .where(
        and(
          eq(erasures.spaceId, spaceId),
          eq(erasures.subject, subject.kind),
          term === null ? isNull(erasures.term) : eq(erasures.term, term),
          beforeMs === null ? isNull(erasures.beforeMs) : eq(erasures.beforeMs, beforeMs),
          isNull(erasures.completedAt),
        ),
      )
      .returning(returned);
    const fresh = { spaceId, subject: subject.kind, term, beforeMs, reason, startedAt, requestedBy };
    const [row = continued] =
      continued === undefined
        ? await transaction
            .insert(erasures)
            .values({ ...fresh, unwritten: [] })
            .returning(returned)
        : [];
    if (row === undefined) throw new Error('INSERT returned no erasure');
    const details = { subject: subject.kind, ...(row.reason && { reason: row.reason }) };
    const action = continued === undefined ? 'erasure.begin' : 'erasure.continue';
    await transaction
      .insert(auditLog)
      .values({ spaceId, actor: requestedBy ?? operator.id, action, target: row.id, details });
    return { spaceId, id: row.id, subject, start, reason: row.reason, request };
  });
}

/** Adds to the counts of an erasure, in the transaction that erased the events. */
export async function countErased(
  transaction: Transaction,
  erasure: Pick<Erasure, 'spaceId' | 'id'>,
  { unwritten = [], ...counts }: Partial<ErasureCounts> & { unwritten?: readonly string[] },
): Promise<void> {
  const added = Object.entries(counts).map(([name, count]): [string, SQL] => [
    name,
    sql`${erasures[name as keyof ErasureCounts]} + ${count}`,
  ]);
  const names = `{${[...new Set(unwritten)].map((name) => `"${name}"`).join()}}`;
  await transaction
    .update(erasures)
    .set({
      ...Object.fromEntries(added),
      unwritten: sql`ARRAY(SELECT DISTINCT unnest(${erasures.unwritten} || ${names}::text[]) ORDER BY 1)`,
    })
    .where(isRow(erasure));
}

/** The tables whose files may still contain data erased by this or an earlier erasure in the space. */
export async function readUnwritten(
  database: Database,
  { spaceId }: Pick<Erasure, 'spaceId'>,
): Promise<string[]> {
  const rows = await database
    .select({ unwritten: erasures.unwritten })
    .from(erasures)
    .where(eq(erasures.spaceId, spaceId));
  return [...new Set(rows.flatMap(({ unwritten }) => unwritten))].toSorted();
}

export async function noteWritten(
  database: Database,
  { spaceId }: Pick<Erasure, 'spaceId'>,
  table: string,
): Promise<void> {
  await database
    .update(erasures)
    .set({ unwritten: sql`array_remove(${erasures.unwritten}, ${table})` })
    .where(eq(erasures.spaceId, spaceId));
}

/**
 * Stores the receipt, audits, and deletes the request, in one transaction.
 * @param writeReceipt `stored` does not name the user or thread. @returns the receipt, which may name them.
 */
export async function completeErasure<Receipt>(
  database: Database,
  erasure: Erasure,
  writeReceipt: (
    transaction: Transaction,
    done: { counts: ErasureCounts; completedAt: Date },
  ) => Promise<{ receipt: Receipt; stored: Record<string, unknown> }>,
): Promise<Receipt> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction
      .update(erasures)
      .set({ completedAt: sql`clock_timestamp()` })
      .where(isRow(erasure))
      .returning();
    if (row?.completedAt == null) throw new Error('the row of the erasure is missing');
    const counts = pick(row, ...counted);
    await transaction.insert(auditLog).values({
      spaceId: erasure.spaceId,
      actor: erasure.request?.requestedBy ?? operator.id,
      action: 'erasure.complete',
      target: erasure.id,
      details: { subject: erasure.subject.kind, ...counts },
    });
    const { receipt, stored } = await writeReceipt(transaction, { counts, completedAt: row.completedAt });
    await transaction.update(erasures).set({ receipt: stored }).where(isRow(erasure));
    if (erasure.request !== undefined) await deleteRequest(transaction, erasure, erasure.request.id);
    return receipt;
  });
}

/** The deleted row is still in the table's file, which has to be rewritten. */
async function deleteRequest(transaction: Transaction, erasure: Erasure, id: string): Promise<void> {
  await transaction
    .delete(erasureRequests)
    .where(and(eq(erasureRequests.spaceId, erasure.spaceId), eq(erasureRequests.id, id)));
  await countErased(transaction, erasure, { unwritten: [getTableName(erasureRequests)] });
}

function isRow({ spaceId, id }: Pick<Erasure, 'spaceId' | 'id'>) {
  return and(eq(erasures.spaceId, spaceId), eq(erasures.id, id));
}
