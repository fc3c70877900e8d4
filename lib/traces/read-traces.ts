import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { traceNodes, traces } from '../db/schema.ts';
import type { SpanNode } from './span-tree.ts';

/** A stored span. Its `context` includes what it has inherited so far. */
export interface StoredNode extends SpanNode {
  /** The event that the span became. */
  readonly eventId: string | null;
  readonly reasoningTokens: number | null;
}

/** All spans of a trace at one time. */
export interface ReadTrace {
  /** The UUID of the trace. */
  readonly traceId: string;
  readonly version: number;
  readonly nodes: readonly StoredNode[];
}

/** Reads the traces of these that are not resolved. @param nodesMax traces with more spans are read without any. */
export async function readUnresolved(
  database: Database,
  spaceId: string,
  { traceIds, nodesMax }: { traceIds: readonly string[]; nodesMax: number },
): Promise<ReadTrace[]> {
  const rows = await database
    .select({
      traceId: traces.traceId,
      version: traces.version,
      spanId: traceNodes.spanId,
      parentSpanId: sql<string>`coalesce(${traceNodes.parentSpanId}, '')`,
      kind: traceNodes.kind,
      agentId: traceNodes.agentId,
      threadId: traceNodes.threadId,
      userId: traceNodes.userId,
      eventId: traceNodes.eventId,
      reasoningTokens: traceNodes.reasoningTokens,
    })
    .from(traces)
    .innerJoin(
      traceNodes,
      and(eq(traceNodes.spaceId, traces.spaceId), eq(traceNodes.traceId, traces.traceId)),
    )
    .where(
      and(
        eq(traces.spaceId, spaceId),
        inArray(traces.traceId, [...traceIds]),
        sql`${traces.version} > ${traces.resolvedVersion}`,
      ),
    );
  return Array.from(
    Map.groupBy(rows, ({ traceId }) => traceId),
    ([traceId, own]) => ({
      traceId,
      version: own[0]?.version ?? 0,
      nodes: own.length > nodesMax ? [] : own.map(toNode),
    }),
  );
}

function toNode<Row extends Record<'agentId' | 'threadId' | 'userId', string | null>>({
  agentId,
  threadId,
  userId,
  ...node
}: Row) {
  const context = {
    agentId: agentId ?? undefined,
    threadId: threadId ?? undefined,
    userId: userId ?? undefined,
  };
  return { ...node, context };
}
