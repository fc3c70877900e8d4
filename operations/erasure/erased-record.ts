import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import { pick } from '../../platform/pick.ts';
import { erasedIdsPerChange } from '../../store/control/limits.ts';
import type { Transaction } from '../../store/db/database.ts';
import { controlChanges, events, segments, traceNodes } from '../../store/db/schema.ts';
import type { Erasure } from './erasure-row.ts';

/**
 * What an erasure erased, for the control stream (ADR 32): after a restore it is erased again, before the
 * queue delivers it. Has ids and counted measures, and nothing that names the subject.
 */
export const erasedRecord = z.object({
  spaceId: z.string(),
  erasureId: z.string(),
  /** Ids of the erased events, also of those only in quarantine, and of erased uses of media. */
  ids: z.array(z.string()),
  /** The counted columns of those that were stored, by the names in the database. */
  counted: z.array(z.record(z.string(), z.unknown())),
  /** Ids of events merged into the erased ones, or removed as their sums, and taken out of usage then. */
  merged: z.array(z.string()).default([]),
  /**
   * Ids of media that were deleted with their last use. Others stay after a restore, too: the queue may have
   * uses of them without their bytes. Absent in records of earlier versions.
   */
  mediaIds: z.array(z.string()).optional(),
  /** Rows of `trace_nodes` after their texts were cleared. */
  nodes: z.array(z.record(z.string(), z.unknown())),
});
export type ErasedRecord = z.infer<typeof erasedRecord>;

/** The columns of an erased event that usage and statistics count. */
export const countedColumns = {
  ...pick(events, 'id', 'receivedAt', 'startTimeMs', 'durationMs', 'type', 'name', 'source', 'state'),
  ...pick(events, 'agentId', 'inputTokens', 'outputTokens', 'totalTokens', 'cacheReadTokens'),
  ...pick(events, 'cacheWriteTokens', 'reasoningTokens', 'usageParts', 'priceClass', 'reportedCost'),
} as const;
type CountedRow = { readonly [Name in keyof typeof countedColumns]: unknown };

/** The counted columns of an event, by their names in the database. */
export function countedRow(row: CountedRow, apiKeyId: string): Record<string, unknown> {
  const names = Object.keys(countedColumns) as (keyof typeof countedColumns)[];
  const values = names.map((name) => [countedColumns[name].name, row[name]] as const);
  return { ...Object.fromEntries(values), [segments.apiKeyId.name]: apiKeyId };
}

interface Erased {
  readonly ids?: readonly string[];
  readonly counted?: ErasedRecord['counted'];
  readonly merged?: readonly string[];
  readonly mediaIds?: readonly string[];
  readonly nodes?: ErasedRecord['nodes'];
}

/** Adds what was erased to the control stream's log, in the transaction that erased it. */
export async function recordErased(
  transaction: Transaction,
  { spaceId, id: erasureId }: Pick<Erasure, 'spaceId' | 'id'>,
  { ids = [], counted = [], merged = [], mediaIds = [], nodes = [] }: Erased,
): Promise<void> {
  const countedById = new Map(counted.map((row) => [row.id, row]));
  const others = Math.max(ids.length, merged.length, nodes.length);
  // Media after all of their uses.
  for (let from = 0; from < others + mediaIds.length; from += erasedIdsPerChange) {
    const own = ids.slice(from, from + erasedIdsPerChange);
    const record: ErasedRecord = {
      spaceId,
      erasureId,
      ids: own,
      counted: own.map((one) => countedById.get(one)).filter((row) => row !== undefined),
      merged: merged.slice(from, from + erasedIdsPerChange),
      mediaIds: mediaIds.slice(Math.max(0, from - others), Math.max(0, from - others + erasedIdsPerChange)),
      nodes: nodes.slice(from, from + erasedIdsPerChange),
    };
    await transaction.insert(controlChanges).values({
      tableName: 'events',
      operation: 'erase',
      image: sql`${JSON.stringify(record)}::jsonb`,
    });
  }
}

/** Ids of events merged into these, which the queue would store again after a restore to an earlier time. */
export async function findMerged(
  transaction: Transaction,
  spaceId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { removedEventId } = traceNodes;
  const found = await transaction
    .select({ id: removedEventId })
    .from(traceNodes)
    .where(
      and(
        eq(traceNodes.spaceId, spaceId),
        inArray(traceNodes.mergedEventId, [...ids]),
        isNotNull(removedEventId),
      ),
    );
  return found.flatMap(({ id }) => id ?? []);
}
