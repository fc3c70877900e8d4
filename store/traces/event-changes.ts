import { and, eq, inArray } from 'drizzle-orm';
import { hashTerm, inSpace } from '../../event/terms.ts';
import type { Database } from '../db/database.ts';
import { events } from '../db/schema.ts';
import type { EventFill, EventRow, Measure, SegmentChange, TraceChanges } from './apply-changes.ts';
import { mergeCalls } from './merge/merged-calls.ts';
import type { StoredNode } from './read-traces.ts';
import { contextColumns, type Relations } from './relations.ts';
import type { SpanContext } from './span-tree.ts';

export type EventChanges = Pick<TraceChanges, 'fills' | 'replaced' | 'removed' | 'segments' | 'measures'>;

/**
 * The changes of the events that these spans have become. An event that was deleted has none, and a surplus one stays while none of the
 * calls below it is stored.
 */
export async function changeEvents(
  database: Database,
  spaceId: string,
  { inherited, sums, surplus }: Relations,
): Promise<EventChanges> {
  const nodes = [
    ...inherited.map(({ node }) => node),
    ...sums.map(({ call }) => call),
    ...surplus.flatMap(({ node, call, below }) => [node, ...below, ...(call === undefined ? [] : [call])]),
  ];
  const rows = await readEvents(database, spaceId, nodes);
  const removable = surplus.filter(
    ({ node, below }) => rows.has(node.eventId ?? '') && below.some(({ eventId }) => rows.has(eventId ?? '')),
  );
  const merged = await mergeCalls(database, spaceId, { sums, surplus: removable, rows });
  const segments = new Map(merged.segments.map((one) => [one.id, one]));
  const measures: Measure[] = [...merged.measures];
  const fills: EventFill[] = [];
  for (const { node, context: own, ofCall } of inherited) {
    const context: SpanContext = { ...ofCall, ...definedOf(own) };
    const row = rows.get(node.eventId ?? '');
    if (row === undefined) continue;
    const added = contextColumns.filter((name) => row[name] === null && context[name] !== undefined);
    if (added.length === 0 || merged.removed.some(({ id }) => id === row.id)) continue;
    const values = Object.fromEntries(added.map((name) => [name, context[name]]));
    fillTerms(segments, spaceId, row, values);
    const replacing = merged.replaced.find(({ id }) => id === row.id);
    const agentId = replacing?.agentId ?? row.agentId;
    // An event without an agent is not in the statistics by agent.
    if (agentId === null && context.agentId !== undefined)
      measures.push({
        ...(replacing ?? row),
        reasoningTokens: replacing?.reasoningTokens ?? node.reasoningTokens,
        agentId: context.agentId,
        sign: 1,
        isByName: false,
      });
    if (replacing === undefined)
      fills.push({ ...values, id: row.id, segmentId: row.segmentId, traceId: node.traceId });
    else for (const name of added) replacing[name] ??= context[name] ?? null;
  }
  return { ...merged, fills, segments: [...segments.values()], measures };
}

function definedOf(context: SpanContext): SpanContext {
  return Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined));
}

/** Adds the terms of values that an event gets, so that filters find its segment. */
function fillTerms(
  segments: Map<string, SegmentChange>,
  spaceId: string,
  { segmentId, state }: EventRow,
  values: Readonly<Record<string, string | undefined>>,
): void {
  const scopes = state === 'error' ? (['any', 'error'] as const) : (['any'] as const);
  const terms = contextColumns.flatMap((column) => {
    const value = values[column];
    return value === undefined ? [] : scopes.map((scope) => hashTerm({ column, value }, scope));
  });
  const known = segments.get(segmentId) ?? { id: segmentId, terms: [] };
  const all = new Set([...known.terms, ...inSpace(spaceId, terms)]);
  segments.set(segmentId, { ...known, terms: [...all] });
}

async function readEvents(
  database: Database,
  spaceId: string,
  nodes: readonly StoredNode[],
): Promise<Map<string, EventRow>> {
  const ids = [...new Set(nodes.flatMap(({ eventId }) => eventId ?? []))];
  if (ids.length === 0) return new Map();
  const rows = await database
    .select()
    .from(events)
    .where(and(eq(events.spaceId, spaceId), inArray(events.id, ids)));
  return new Map(rows.map((row) => [row.id, row]));
}
