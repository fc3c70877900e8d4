import type { Database } from '../db/database.ts';
import { applyChanges, type NodeChange } from './apply-changes.ts';
import { changeEvents, type EventChanges } from './event-changes.ts';
import { mergesPerStatement, resolveAttemptsMax, resolvedNodesMax, tracesPerStatement } from './limits.ts';
import { type ReadTrace, readTraces, type StoredNode } from './read-traces.ts';
import { findRelations, type Relations } from './relations.ts';
import { findSharedResponses } from './shared-responses.ts';
import type { StoredTraces } from './store-nodes.ts';

/**
 * Adds to events and spans of these traces what spans of other requests determine (ADR 27): the agent, thread and user of the nearest
 * span above that names one; and several LLM spans of one call become one event, also those of other traces with the same response.
 * Calling it again changes nothing. The spans must be committed.
 *
 * Traces are read, and then changed only if no span was added meanwhile; otherwise they are read again. So the last one of several
 * concurrent writers resolves a trace with all of its spans.
 *
 * @throws Error when traces get further spans at each attempt; a driver error. The caller tries again.
 */
export async function resolveTraces(
  database: Database,
  spaceId: string,
  { unresolved, withResponse, replayedIds = new Set() }: StoredTraces,
): Promise<void> {
  const shared = await findSharedResponses(database, spaceId, withResponse);
  const traceIds = [...new Set([...unresolved, ...shared.traceIds])];
  for (let from = 0; from < traceIds.length; from += tracesPerStatement) {
    const ids = traceIds.slice(from, from + tracesPerStatement);
    for (let failed = 0; ; ) {
      const outcome = await resolveOnce(database, spaceId, { traceIds: ids, replayedIds });
      if (outcome === 'resolved') break;
      if (outcome === 'changed') failed += 1;
      if (failed > resolveAttemptsMax) throw new Error('traces changed while they were resolved');
    }
  }
}

/** @returns `changed` when traces got further spans meanwhile, `more` when not all changes fitted into one statement. */
async function resolveOnce(
  database: Database,
  spaceId: string,
  { traceIds, replayedIds }: { traceIds: readonly string[]; replayedIds: ReadonlySet<string> },
): Promise<'resolved' | 'changed' | 'more'> {
  const { partnerIds } = await findSharedResponses(database, spaceId, traceIds);
  const all = [...new Set([...traceIds, ...partnerIds])];
  const read = await readTraces(database, spaceId, { traceIds: all, nodesMax: resolvedNodesMax });
  if (read.length === 0) return 'resolved';
  const { inherited, sums, surplus } = findRelations(read, replayedIds);
  const relations = {
    inherited,
    sums: sums.slice(0, mergesPerStatement),
    surplus: surplus.slice(0, mergesPerStatement),
  };
  const changes = await changeEvents(database, spaceId, relations);
  const hasMore = Math.max(surplus.length, sums.length) > mergesPerStatement;
  const isWhole = !hasMore || changes.removed.length + changes.replaced.length === 0;
  const nodes = changeNodes(read, relations, changes);
  const own = new Set(traceIds);
  const isChanged =
    nodes.length + changes.fills.length + changes.replaced.length + changes.removed.length > 0;
  const traces = read
    .filter(({ traceId }) => own.has(traceId) || isChanged)
    .map(({ traceId, version, resolvedVersion }) => {
      const nextVersion = isChanged ? version + 1 : version;
      // Another trace, of which only some spans were looked at, is as resolved as before.
      const isResolved = own.has(traceId) ? isWhole : resolvedVersion === version;
      return { traceId, version, nextVersion, resolvedVersion: isResolved ? nextVersion : 0 };
    });
  const isApplied = await applyChanges(database, spaceId, { traces, nodes, ...changes });
  if (!isApplied) return 'changed';
  return isWhole ? 'resolved' : 'more';
}

/** The changes of spans, one for each. */
function changeNodes(
  read: readonly ReadTrace[],
  { inherited, sums, surplus }: Relations,
  { removed, replaced }: EventChanges,
): NodeChange[] {
  const changes = new Map<string, NodeChange>();
  const add = (change: NodeChange) => {
    const key = `${change.traceId} ${change.spanId}`;
    changes.set(key, { ...changes.get(key), ...change });
  };
  for (const { node, context } of inherited) add({ traceId: node.traceId, spanId: node.spanId, ...context });
  for (const { traceId, spanId } of removed) add({ traceId, spanId, isRemoved: true });
  const isReplaced = (call: StoredNode) => replaced.some(({ id }) => id === call.eventId);
  for (const { node, call } of sums)
    if (isReplaced(call)) add({ traceId: node.traceId, spanId: node.spanId, isDropped: true });
  for (const { call } of [...surplus, ...sums]) {
    const own = replaced.find(({ id }) => id === call?.eventId);
    if (call === undefined || own === undefined) continue;
    add({ traceId: call.traceId, spanId: call.spanId, reasoningTokens: own.reasoningTokens });
  }
  const ids = new Set(removed.map(({ id }) => id));
  const mergedInto = new Map(
    surplus.flatMap(({ node, call }) =>
      node.eventId !== null && ids.has(node.eventId) ? [[node.eventId, call?.eventId ?? undefined]] : [],
    ),
  );
  if (mergedInto.size === 0) return [...changes.values()];
  // Also the spans that had been merged into a removed event.
  for (const { nodes } of read)
    for (const { traceId, spanId, eventId, mergedEventId } of nodes) {
      const target = mergedInto.get(eventId ?? mergedEventId ?? '');
      if (target !== undefined) add({ traceId, spanId, mergedEventId: target });
    }
  return [...changes.values()];
}
