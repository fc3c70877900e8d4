import { and, eq, lt, not, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { traceNodes, traces } from '../db/schema.ts';
import { deleteExpired } from './delete-expired.ts';
import { deletedEventsMax, linksAgeMs } from './limits.ts';
import { instantOf, isAmong } from './literals.ts';
import { type ExpiryRule, readCutoff } from './policy.ts';

/**
 * Spans of a space's traces, a bounded number, and states of traces without others.
 * @returns how many; 0 when no more have expired.
 */
export async function deleteExpiredNodes(
  database: Database,
  spaceId: string,
  rule: ExpiryRule,
): Promise<number> {
  const cutoffMs = await readCutoff(database, spaceId, rule);
  if (cutoffMs === -Infinity) return 0;
  const expired = await database
    .select({ traceId: traceNodes.traceId, receivedAt: traceNodes.receivedAt })
    .from(traceNodes)
    .where(and(eq(traceNodes.spaceId, spaceId), lt(traceNodes.receivedAt, new Date(cutoffMs))))
    .limit(deletedEventsMax);
  if (expired.length === 0) return 0;
  const traceIds = [...new Set(expired.map(({ traceId }) => traceId))];
  const latestMs = Math.max(...expired.map(({ receivedAt }) => receivedAt.getTime()));
  const isDeleted = await deleteExpired(
    database,
    { spaceId, latestMs, rule },
    [traceNodes, traces].map(
      (table) => sql`DELETE FROM ${table} WHERE ${isAmong(table.spaceId, [spaceId])}
      AND ${isAmong(table.traceId, traceIds)} AND date_trunc('milliseconds', ${table.receivedAt}) <= ${instantOf(latestMs)}`,
    ),
  );
  return isDeleted ? expired.length : 0;
}

/** Deletes traces with only spans of the kind `link`, such as a web server's, a day after their last span. */
export async function deleteTracesWithoutCalls(database: Database, nowMs: number): Promise<void> {
  const isOld = and(not(traces.hasCalls), lt(traces.receivedAt, new Date(nowMs - linksAgeMs)));
  for (let found = deletedEventsMax; found === deletedEventsMax; ) {
    const rows = await database
      .select({ spaceId: traces.spaceId, traceId: traces.traceId })
      .from(traces)
      .where(isOld)
      .limit(deletedEventsMax);
    found = rows.length;
    for (const [spaceId, own] of Map.groupBy(rows, (row) => row.spaceId)) {
      const ids = `{${own.map(({ traceId }) => traceId).join()}}`;
      await database.execute(sql`
WITH gone AS (
  DELETE FROM ${traces} WHERE ${traces.spaceId} = ${spaceId} AND ${traces.traceId} = ANY (${ids}::uuid[]) AND ${isOld}
  RETURNING ${traces.traceId} AS trace
)
DELETE FROM ${traceNodes} WHERE ${traceNodes.spaceId} = ${spaceId} AND ${traceNodes.traceId} IN (SELECT trace FROM gone)`);
    }
  }
}
