import type { Database } from '../db/database.ts';
import { applyChanges, type NodeChange } from './apply-changes.ts';
import { changeEvents, type EventChanges } from './event-changes.ts';
import { mergesPerStatement, resolveAttemptsMax, resolvedNodesMax, tracesPerStatement } from './limits.ts';
import { readUnresolved } from './read-traces.ts';
import { findRelations, type Relations } from './relations.ts';

/**
 * Gives events and spans of these traces what spans of other requests tell about them (ADR 27): the agent, thread and user of the nearest
 * span above that names one; and several LLM spans of one call become one event. Calling it again changes nothing. The spans must be
 * committed.
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
    const ids = traceIds.slice(from, from + tracesPerStatement);
    for (let failed = 0; ; ) {
      const outcome = await resolveOnce(database, spaceId, ids);
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
  traceIds: readonly string[],
): Promise<'resolved' | 'changed' | 'more'> {
  const read = await readUnresolved(database, spaceId, { traceIds, nodesMax: resolvedNodesMax });
  if (read.length === 0) return 'resolved';
  const found = read.map(findRelations);
  const inherited = found.flatMap((relations) => relations.inherited);
  const surplus = found.flatMap((relations) => relations.surplus);
  const relations = { inherited, surplus: surplus.slice(0, mergesPerStatement) };
  const changes = await changeEvents(database, spaceId, relations);
  const isWhole = surplus.length <= mergesPerStatement || changes.removed.length === 0;
  const traces = read.map(({ traceId, version }) => ({
    traceId,
    version,
    resolvedVersion: isWhole ? version : 0,
  }));
  const nodes = changeNodes(relations, changes);
  const isApplied = await applyChanges(database, spaceId, { traces, nodes, ...changes });
  if (!isApplied) return 'changed';
  return isWhole ? 'resolved' : 'more';
}

/** The changes of spans, one for each. */
function changeNodes({ inherited, surplus }: Relations, { removed, replaced }: EventChanges): NodeChange[] {
  const changes = new Map<string, NodeChange>();
  const add = (change: NodeChange) => {
    const key = `${change.traceId} ${change.spanId}`;
    changes.set(key, { ...changes.get(key), ...change });
  };
  for (const { node, context } of inherited) add({ traceId: node.traceId, spanId: node.spanId, ...context });
  for (const { traceId, spanId } of removed) add({ traceId, spanId, isRemoved: true });
  for (const { call } of surplus) {
    const own = replaced.find(({ id }) => id === call?.eventId);
    if (call === undefined || own === undefined) continue;
    add({ traceId: call.traceId, spanId: call.spanId, reasoningTokens: own.reasoningTokens });
  }
  return [...changes.values()];
}
