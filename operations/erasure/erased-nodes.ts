import { and, asc, eq, getTableColumns, inArray, isNotNull, lt, or, type SQL, sql } from 'drizzle-orm';
import { asStored } from '../../event/text.ts';
import { inBoundedTransaction } from '../../store/db/bounded-transaction.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import { events, traceNodes } from '../../store/db/schema.ts';
import { markUnresolved } from '../../store/traces/unresolved-traces.ts';
import { statisticsTable } from './cluster/cluster-files.ts';
import { eraseAttached, type GoneEvent } from './erased-attachments.ts';
import { recordErased } from './erased-record.ts';
import { countErased, type Erasure } from './erasure-row.ts';
import { nodesPerBatch } from './limits.ts';
import { nodesTable } from './rewritten-files.ts';
import type { Subject } from './subject.ts';

/**
 * Clears the texts of a subject's spans, and erases notes and media that were stored after the events of
 * these were erased. Rows stay, with OpenTelemetry's random ids: a span sent again is not new. Call it when
 * all spans that were accepted before the start are stored.
 * @returns the number of spans.
 */
export async function eraseNodes(database: Database, erasure: Erasure): Promise<number> {
  const { spaceId, agentId, threadId, userId, name, traceId, spanId } = traceNodes;
  const key = sql`(${traceId}, ${spanId})`;
  const hasText = or(...[name, agentId, threadId, userId].map((column) => isNotNull(column)));
  let erased = 0;
  for (let after: { traceId: string; spanId: string } | undefined; ; ) {
    const isAfter: SQL | undefined = after && sql`${key} > (${after.traceId}::uuid, ${after.spanId})`;
    const found = await database
      .select({ traceId, spanId })
      .from(traceNodes)
      .where(and(eq(spaceId, erasure.spaceId), matchNodes(erasure.subject), hasText, isAfter))
      .orderBy(asc(traceId), asc(spanId))
      .limit(nodesPerBatch);
    after = found.at(-1);
    if (after === undefined) return erased;
    const keys = sql.join(
      found.map((one) => sql`(${one.traceId}::uuid, ${one.spanId})`),
      sql`, `,
    );
    const traceIds = [...new Set(found.map((one) => one.traceId))];
    await inBoundedTransaction(database, async (transaction) => {
      // First, as a resolver locks them: one that has read the texts does not write them again.
      await markUnresolved(transaction, erasure.spaceId, traceIds);
      const cleared = await transaction
        .update(traceNodes)
        .set({ name: null, agentId: null, threadId: null, userId: null })
        .where(and(eq(spaceId, erasure.spaceId), sql`${key} IN (${keys})`))
        .returning();
      // Merged spans are recorded with the event into which they were merged.
      const merged = cleared.flatMap((node) =>
        node.mergedEventId === null ? (node.removedEventId ?? []) : [],
      );
      const gone = await listGone(transaction, erasure, cleared);
      const attached = await eraseAttached(transaction, erasure.spaceId, gone);
      await recordErased(transaction, erasure, {
        ids: attached.useIds,
        mediaIds: attached.mediaIds,
        nodes: cleared.map(nodeImage),
        merged,
      });
      const unwritten = [nodesTable, statisticsTable, ...attached.unwritten];
      await countErased(transaction, erasure, { ...attached.counts, unwritten });
    });
    erased += found.length;
  }
}

/** Targets of notes and media that are not stored: some may have come after the events were erased. */
async function listGone(
  transaction: Transaction,
  { spaceId }: Erasure,
  nodes: readonly (typeof traceNodes.$inferSelect)[],
): Promise<GoneEvent[]> {
  const ids = [...new Set(nodes.flatMap(({ eventId, mergedEventId }) => mergedEventId ?? eventId ?? []))];
  const stored = await transaction
    .select({ id: events.id })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), inArray(events.id, ids)));
  const gone = new Set(ids).difference(new Set(stored.map(({ id }) => id)));
  return [...Array.from(gone, (id) => ({ id })), ...nodes.map(({ traceId }) => ({ traceId }))];
}

function nodeImage(row: typeof traceNodes.$inferSelect): Record<string, unknown> {
  const columns = Object.entries(getTableColumns(traceNodes));
  return Object.fromEntries(columns.map(([name, column]) => [column.name, Reflect.get(row, name)]));
}

function matchNodes(subject: Subject): SQL {
  if (subject.kind === 'space') return sql`true`;
  if (subject.kind === 'before') return lt(traceNodes.startTimeMs, subject.timeMs);
  return eq(subject.kind === 'user' ? traceNodes.userId : traceNodes.threadId, asStored(subject.value));
}
