import { and, eq, inArray } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { events } from '../db/schema.ts';
import { hashTerm, inSpace } from '../event/terms.ts';
import { applyChanges, type EventChange, type Measure, type NodeChange } from './apply-changes.ts';
import { resolveAttemptsMax, resolvedNodesMax, tracesPerStatement } from './limits.ts';
import { type ReadTrace, readUnresolved, type StoredNode } from './read-traces.ts';
import { SpanTree } from './span-tree.ts';

/**
 * Gives events and spans of these traces the agent, thread and user of the nearest span above that names one, whichever request it
 * came in (ADR 27). Calling it again changes nothing. The spans must be committed.
 *
 * A trace is read, and then changed only if no span was added meanwhile; otherwise it is read again. So the last one of several
 * concurrent writers resolves the trace with all of its spans.
 *
 * @throws Error when traces get further spans at each attempt; a driver error. The caller tries again.
 */
export async function resolveTraces(
  database: Database,
  spaceId: string,
  traceIds: readonly string[],
): Promise<void> {
  for (let from = 0; from < traceIds.length; from += tracesPerStatement) {
    let left = traceIds.slice(from, from + tracesPerStatement);
    for (let attempt = 1; left.length > 0; attempt++) {
      if (attempt > resolveAttemptsMax) throw new Error('traces changed while they were resolved');
      left = await resolveOnce(database, spaceId, left);
    }
  }
}

/** @returns the traces that got further spans meanwhile. */
async function resolveOnce(
  database: Database,
  spaceId: string,
  traceIds: readonly string[],
): Promise<string[]> {
  const traces = await readUnresolved(database, spaceId, { traceIds, nodesMax: resolvedNodesMax });
  if (traces.length === 0) return [];
  const found = traces.flatMap(findInherited);
  const ofEvents = await changeEvents(database, spaceId, found);
  const nodes = found.map(({ node, context }): NodeChange => ({ ...node, ...context }));
  const resolved = await applyChanges(database, spaceId, { traces, nodes, ...ofEvents });
  return traces.map(({ traceId }) => traceId).filter((traceId) => !resolved.has(traceId));
}

/** What a span inherits and does not have yet. */
interface Inherited {
  readonly node: StoredNode;
  readonly context: Readonly<Record<ContextColumn, string | undefined>>;
}

const contextColumns = ['agentId', 'threadId', 'userId'] as const;
type ContextColumn = (typeof contextColumns)[number];

function findInherited({ nodes }: ReadTrace): Inherited[] {
  const tree = new SpanTree(nodes);
  return nodes.flatMap((node) => {
    const { agentId, threadId, userId } = tree.contextOf(node);
    const context = { agentId, threadId, userId };
    const isKnown = contextColumns.every((column) => context[column] === node.context[column]);
    return isKnown ? [] : [{ node, context }];
  });
}

/** The changes of the events that these spans have become. An event that was deleted has none. */
async function changeEvents(database: Database, spaceId: string, inherited: readonly Inherited[]) {
  const byEvent = new Map(
    inherited.flatMap((one) => (one.node.eventId === null ? [] : [[one.node.eventId, one] as const])),
  );
  const rows = await readEvents(database, spaceId, [...byEvent.keys()]);
  const terms = new Map<string, Set<bigint>>();
  const measures: Measure[] = [];
  const changed = rows.flatMap((row): EventChange[] => {
    const { node, context } = byEvent.get(row.id) ?? {};
    if (node === undefined || context === undefined) return [];
    const added = contextColumns.filter((name) => row[name] === null && context[name] !== undefined);
    if (added.length === 0) return [];
    const values = Object.fromEntries(added.map((name) => [name, context[name]]));
    const ofSegment = terms.get(row.segmentId) ?? new Set();
    terms.set(row.segmentId, ofSegment);
    for (const column of added) {
      const source = { column, value: context[column] ?? '' };
      ofSegment.add(hashTerm(source, 'any'));
      if (row.state === 'error') ofSegment.add(hashTerm(source, 'error'));
    }
    // An event without an agent is not in the statistics by agent.
    if (added.includes('agentId')) measures.push({ ...row, ...node, ...values, sign: 1, isByName: false });
    return [{ ...values, id: row.id, segmentId: row.segmentId, traceId: node.traceId }];
  });
  const segments = Array.from(terms, ([id, own]) => ({ id, terms: inSpace(spaceId, own) }));
  return { events: changed, segments, measures };
}

async function readEvents(database: Database, spaceId: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const { id, segmentId, type, state, name, source, agentId, threadId, userId } = events;
  const { startTimeMs, durationMs, inputTokens, outputTokens, totalTokens } = events;
  const { cacheReadTokens, cacheWriteTokens } = events;
  const tokens = { inputTokens, outputTokens, totalTokens, cacheReadTokens, cacheWriteTokens };
  const texts = { id, segmentId, type, state, name, source, agentId, threadId, userId };
  return database
    .select({ ...texts, ...tokens, startTimeMs, durationMs })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), inArray(events.id, [...ids])));
}
