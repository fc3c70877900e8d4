import { and, eq, getTableColumns, inArray, lte } from 'drizzle-orm';
import { pick } from '../../platform/pick.ts';
import type { Database } from '../db/database.ts';
import { traceNodes, traces } from '../db/schema.ts';
import type { SpanNode } from './span-tree.ts';

/** A stored span. Its `context` includes what it has inherited so far. */
export interface StoredNode extends SpanNode {
  readonly eventId: string | null;
  /** The event of another span of the same call, into which it was merged. */
  readonly mergedEventId: string | null;
  readonly scope: string | null;
  readonly responseKey: string | null;
  readonly usageKey: string | null;
  readonly requestKey: string | null;
  readonly startTimeMs: number;
  readonly endTimeMs: number;
}

export type ReadTrace = Awaited<ReturnType<typeof readTraces>>[number];

const {
  spaceId: _space,
  name: _name,
  state: _state,
  removedEventId: _removed,
  receivedAt: _received,
  ...columns
} = getTableColumns(traceNodes);

/** Reads traces. @param nodesMax traces with more spans are read without any. */
export async function readTraces(
  database: Database,
  spaceId: string,
  { traceIds, nodesMax }: { traceIds: readonly string[]; nodesMax: number },
) {
  if (traceIds.length === 0) return [];
  const rows = await database
    .select({
      ...pick(traces, 'traceId', 'version', 'unresolvedSince'),
      node: columns,
    })
    .from(traces)
    .leftJoin(
      traceNodes,
      and(
        eq(traceNodes.spaceId, traces.spaceId),
        eq(traceNodes.traceId, traces.traceId),
        lte(traces.spans, nodesMax),
      ),
    )
    .where(and(eq(traces.spaceId, spaceId), inArray(traces.traceId, [...traceIds])));
  return Array.from(
    Map.groupBy(rows, (row) => row.traceId),
    ([id, own]) => ({
      /** The UUID of the trace. */
      traceId: id,
      version: own[0]?.version ?? 0,
      isResolved: (own[0]?.unresolvedSince ?? null) === null,
      nodes: own.flatMap(({ node }) => (node === null ? [] : toNode(node))),
    }),
  );
}

/** A row of `trace_nodes` as a span. */
export function toNode({
  parentSpanId: parent,
  agentId: agent,
  threadId: thread,
  userId: user,
  ...node
}: Pick<typeof traceNodes.$inferSelect, keyof typeof columns>): StoredNode {
  const context = { agentId: agent ?? undefined, threadId: thread ?? undefined, userId: user ?? undefined };
  return { ...node, parentSpanId: parent ?? '', context };
}
