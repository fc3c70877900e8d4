import type { Database } from '../db/database.ts';
import { applyChanges, type NodeChange, type TraceChanges } from './apply-changes.ts';
import { findContexts } from './event-contexts.ts';
import { resolvedNodesMax } from './limits.ts';
import { type MergedCalls, mergeCalls, readCallRows } from './merge/merged-calls.ts';
import { type ReadTrace, readTraces, type StoredNode } from './read-traces.ts';
import { findRelations } from './relations.ts';
import { findSharedResponses } from './shared-responses.ts';

/**
 * The traces that are still unresolved: `changed`, all of them, when some got further spans or events
 * meanwhile; otherwise those with a span whose event is not stored yet.
 */
export type ResolveOutcome = 'changed' | ReadonlySet<string>;

/**
 * Brings events and spans of these traces to what the stored spans determine (ADR 27), whatever came first:
 * the agent, thread and user of the nearest span above that names one; and several LLM spans of one call
 * become one event, also those of other traces with the same response. Calling it again changes nothing.
 *
 * Traces are read once, and then changed by statements that apply only if nothing was added meanwhile. So the
 * last one of several concurrent writers resolves a trace with all of its spans, and a resolver that is
 * killed leaves it unresolved.
 * @param mayWait whether a trace stays unresolved while a span is known whose event is not.
 */
export async function resolveTraces(
  database: Database,
  spaceId: string,
  { traceIds, mayWait = true }: { traceIds: readonly string[]; mayWait?: boolean },
): Promise<ResolveOutcome> {
  const own = await readTraces(database, spaceId, { traceIds, nodesMax: resolvedNodesMax });
  if (own.length === 0) return new Set();
  // After the versions: a span that is stored between the two statements changes them.
  const { partnerIds } = await findSharedResponses(database, spaceId, traceIds);
  const others = [...partnerIds.difference(new Set(traceIds))];
  const partners = await readTraces(database, spaceId, { traceIds: others, nodesMax: resolvedNodesMax });
  const read = [...own, ...partners];
  const resolving = new Resolving(database, spaceId, read);
  const relations = findRelations(read);
  const eventNodes = Map.groupBy(
    read.flatMap(({ nodes }) => nodes),
    ({ eventId, mergedEventId }) => eventId ?? mergedEventId,
  );
  const rows = await readCallRows(database, spaceId, relations);
  for await (const merged of mergeCalls(database, spaceId, { ...relations, rows })) {
    const nodes = changeMergedNodes(merged, eventNodes);
    if (!(await resolving.apply({ ...none, ...merged, nodes }))) return 'changed';
  }
  const { changes, incomplete } = await findContexts(database, spaceId, {
    ofEvents: relations.ofEvents,
    merged: rows,
  });
  const nodes = relations.inherited.map(({ node: { traceId, spanId }, context }) => ({
    ...{ traceId, spanId },
    ...context,
  }));
  const isOwn = new Set(traceIds);
  const waiting = mayWait ? incomplete : new Set<string>();
  // A call of a trace with the same response may be merged into the event that is missing there.
  const mustAllWait = [...waiting].some((id) => !isOwn.has(id));
  const resolved = new Set(mustAllWait ? [] : traceIds.filter((id) => !waiting.has(id)));
  if (!(await resolving.apply({ ...none, ...changes, nodes }, resolved))) return 'changed';
  return new Set(traceIds).difference(resolved);
}

const none: Omit<TraceChanges, 'traces'> = {
  ...{ nodes: [], fills: [], replaced: [], removed: [], segments: [] },
};

/** Traces that are changed by several statements. */
class Resolving {
  readonly #database: Database;
  readonly #spaceId: string;
  readonly #read: readonly ReadTrace[];
  /** How many statements have changed the traces. */
  #steps = 0;

  constructor(database: Database, spaceId: string, read: readonly ReadTrace[]) {
    this.#database = database;
    this.#spaceId = spaceId;
    this.#read = read;
  }

  /** @returns false, with nothing changed, if something was added to one of the traces. */
  async apply(changes: Omit<TraceChanges, 'traces'>, resolved: ReadonlySet<string> = new Set()) {
    const { nodes, fills, replaced, removed } = changes;
    const isChanged = nodes.length + fills.length + replaced.length + removed.length > 0;
    const before = this.#steps;
    if (isChanged) this.#steps += 1;
    const traces = this.#read
      .filter(({ traceId }) => isChanged || resolved.has(traceId))
      .map(({ traceId, version, isResolved }) => ({
        traceId,
        version: version + before,
        nextVersion: version + this.#steps,
        isResolved: isResolved || resolved.has(traceId),
      }));
    return traces.length === 0 || applyChanges(this.#database, this.#spaceId, { ...changes, traces });
  }
}

/** The changes of spans whose events were removed or replaced, one for each. */
function changeMergedNodes(
  { groups, removed, replaced }: MergedCalls,
  eventNodes: ReadonlyMap<string | null, readonly StoredNode[]>,
): NodeChange[] {
  const changes = new Map<string, NodeChange>();
  const add = (change: NodeChange) => {
    const key = `${change.traceId} ${change.spanId}`;
    changes.set(key, { ...changes.get(key), ...change });
  };
  for (const { traceId, spanId } of removed) add({ traceId, spanId, isRemoved: true });
  const replacedById = new Map(replaced.map((row) => [row.id, row]));
  const removedIds = new Set(removed.map(({ id }) => id));
  for (const { call, outer, dropped } of groups) {
    const own = replacedById.get(call?.eventId ?? '');
    if (call !== undefined && own !== undefined) {
      for (const { traceId, spanId } of dropped) add({ traceId, spanId, isDropped: true });
    }
    const mergedEventId = call?.eventId ?? undefined;
    if (mergedEventId === undefined) continue;
    // Also the spans that had been merged into a removed event.
    for (const { node } of outer)
      if (removedIds.has(node.eventId ?? ''))
        for (const { traceId, spanId } of eventNodes.get(node.eventId) ?? [])
          add({ traceId, spanId, mergedEventId });
  }
  return [...changes.values()];
}
