import { and, asc, desc, eq, gt, isNotNull, lte, type SQL, sql } from 'drizzle-orm';
import type { Database, Transaction } from '../db/database.ts';
import { listShardsByNode } from '../db/layout/cluster-nodes.ts';
import { layoutOf } from '../db/layout/layout.ts';
import { traces } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';
import { noteTraces } from '../write/statement-parts.ts';
import { largeTracesMax, markedTracesMax, resolvedNodesMax } from './limits.ts';

/** Lets the resolver look at these traces again. */
export async function markUnresolved(
  database: Database | Transaction,
  spaceId: string,
  traceIds: readonly string[],
): Promise<void> {
  const areGiven = sql`${traces.traceId} = ANY (${`{${traceIds.join()}}`}::uuid[])`;
  await database.execute(noteTraces(areGiven, sql`${spaceId}`));
}

/** Lets the resolver look at all traces of a space again, a bounded number by each statement. */
export async function markTracesUnresolved(database: Database, spaceId: string): Promise<void> {
  for (let after: string | undefined; ; ) {
    const listed = await database
      .select({ traceId: traces.traceId })
      .from(traces)
      .where(and(eq(traces.spaceId, spaceId), after === undefined ? undefined : gt(traces.traceId, after)))
      .orderBy(asc(traces.traceId))
      .limit(markedTracesMax);
    after = listed.at(-1)?.traceId;
    if (after === undefined) return;
    await markUnresolved(
      database,
      spaceId,
      listed.map(({ traceId }) => traceId),
    );
  }
}

/** Whether traces of a space wait that were unresolved at a time already, and can be resolved. */
export async function hasUnresolved(database: Database, spaceId: string, sinceMs: number): Promise<boolean> {
  const isSince = lte(traces.unresolvedSince, new Date(sinceMs));
  return (await database.$count(traces, and(eq(traces.spaceId, spaceId), isUnresolved, isSince))) > 0;
}

const isUnresolved = and(isNotNull(traces.unresolvedSince), lte(traces.spans, resolvedNodesMax));

/** The spaces with unresolved traces. On Citus, while a node is away, those of the others. */
export async function listUnresolvedSpaces(database: Database): Promise<string[]> {
  const { isCluster } = await layoutOf(database);
  return isCluster ? listOnCluster(database).catch(() => listByNode(database)) : listOnPostgres(database);
}

async function listOnCluster(database: Database): Promise<string[]> {
  const rows = await database
    .selectDistinct({ space: traces.spaceId })
    .from(traces)
    .where(isNotNull(traces.unresolvedSince));
  return rows.map((row) => row.space);
}

async function listByNode(database: Database): Promise<string[]> {
  const isWaiting = sql`${nameOf(traces.unresolvedSince)} IS NOT NULL`;
  const nodes = await listShardsByNode(database, traces, isWaiting);
  const found = await Promise.all(nodes.map((listShards) => listShards().catch(() => [])));
  return found.flat().flatMap(({ spaceIds }) => spaceIds);
}

/** The index is read once for each space, not for each of its traces. */
async function listOnPostgres(database: Database): Promise<string[]> {
  const name = nameOf(traces.spaceId);
  const next = (after: SQL) =>
    sql`(SELECT ${traces.spaceId} FROM ${traces} WHERE ${traces.unresolvedSince} IS NOT NULL AND ${after} ORDER BY 1 LIMIT 1)`;
  const rows = await database.execute<{ space: string }>(sql`
WITH RECURSIVE found AS (
  ${next(sql`true`)}
  UNION ALL
  SELECT ${next(sql`${traces.spaceId} > found.${name}`)} FROM found WHERE found.${name} IS NOT NULL
)
SELECT ${name} AS space FROM found WHERE ${name} IS NOT NULL`);
  return rows.map((row) => row.space);
}

/** How long the oldest unresolved trace has waited, in seconds: 0 without any. */
export async function readResolveLag(database: Database): Promise<number> {
  const { unresolvedSince } = traces;
  const [row] = await database
    .select({ seconds: sql<number>`extract(epoch FROM now() - min(${unresolvedSince}))::float8` })
    .from(traces)
    .where(isUnresolved);
  return Math.max(0, row?.seconds ?? 0);
}

/** How long a trace has waited for its relations: null when they are resolved. */
export interface TraceLag {
  readonly unresolvedMs: number | null;
  /** Such a trace is not resolved at all. */
  readonly hasTooManySpans: boolean;
}

export async function readTraceLag(database: Database, spaceId: string, traceId: string): Promise<TraceLag> {
  const { unresolvedSince, spans } = traces;
  const unresolvedMs = sql<number | null>`(extract(epoch FROM now() - ${unresolvedSince}) * 1000)::float8`;
  const [row] = await database
    .select({ unresolvedMs, hasTooManySpans: sql<boolean>`${gt(spans, resolvedNodesMax)}` })
    .from(traces)
    .where(and(eq(traces.spaceId, spaceId), eq(traces.traceId, traceId)));
  return row ?? { unresolvedMs: null, hasTooManySpans: false };
}

export type LargeTrace = Pick<typeof traces.$inferSelect, 'traceId' | 'spans' | 'receivedAt'>;

/** The traces with too many spans to be resolved, the last received first, {@link largeTracesMax} at most. */
export async function listLargeTraces(database: Database, spaceId: string): Promise<LargeTrace[]> {
  const { traceId, spans, receivedAt } = traces;
  return database
    .select({ traceId, spans, receivedAt })
    .from(traces)
    .where(and(eq(traces.spaceId, spaceId), gt(spans, resolvedNodesMax)))
    .orderBy(desc(receivedAt))
    .limit(largeTracesMax);
}
