import { and, eq, getTableColumns, inArray, notExists } from 'drizzle-orm';
import { spanProperty } from '../../event/attributes.ts';
import { findMember } from '../../event/json/scan.ts';
import { hashTerm, inSpace } from '../../event/terms.ts';
import type { Database } from '../db/database.ts';
import { eventIds, events } from '../db/schema.ts';
import type { EventFill, EventRow, SegmentChange } from './apply-changes.ts';
import type { CallRows } from './merge/merged-calls.ts';
import type { StoredNode } from './read-traces.ts';
import { contextColumns, type Inherited } from './relations.ts';

/** Without the columns that are long and that no change of its agent, thread or user needs. */
const {
  attributes: _attributes,
  inputPreview: _input,
  outputPreview: _output,
  errorMessage: _message,
  ...read
} = getTableColumns(events);
type ReadEvent = Pick<EventRow, keyof typeof read>;

/**
 * The changes of the events whose agent, thread or user is not that of their span, or else of another span of
 * their call. A value that none of these spans names was not taken from a span, and stays.
 * @param merged what was known of these events when calls were merged: one that was stored since then is not
 * stored yet.
 */
export async function findContexts(
  database: Database,
  spaceId: string,
  { ofEvents, merged }: { ofEvents: readonly Inherited[]; merged: CallRows },
) {
  const rows = await readEvents(database, spaceId, ofEvents);
  const segments = new Map<string, SegmentChange>();
  const fills: EventFill[] = [];
  for (const { node, context, ofCall = [] } of ofEvents) {
    const row = rows.get(node.eventId ?? '');
    if (row === undefined) continue;
    const all = [context, ...ofCall];
    const values: Partial<Record<(typeof contextColumns)[number], string>> = {};
    for (const name of contextColumns) {
      const named = all.flatMap((one) => one[name] ?? []);
      const isTaken = row[name] === null || named.includes(row[name]);
      if (named[0] !== undefined && named[0] !== row[name] && isTaken) values[name] = named[0];
    }
    if (Object.keys(values).length === 0) continue;
    addTerms(segments, spaceId, { row, values });
    fills.push({ ...values, id: row.id, segmentId: row.segmentId, traceId: node.traceId });
  }
  const wasMissing = (id: string) => merged.has(id) && merged.get(id) === undefined;
  const missing = ofEvents.filter(
    ({ node: { eventId } }) => eventId !== null && (!rows.has(eventId) || wasMissing(eventId)),
  );
  const incomplete = await findIncomplete(
    database,
    spaceId,
    missing.map(({ node }) => node),
  );
  return { changes: { fills, segments: [...segments.values()] }, incomplete };
}

/** Adds the terms of values that an event gets, so that filters find its segment. */
function addTerms(
  segments: Map<string, SegmentChange>,
  spaceId: string,
  { row: { segmentId, state }, values }: { row: ReadEvent; values: Readonly<Record<string, string>> },
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
  ofEvents: readonly Inherited[],
): Promise<Map<string, ReadEvent>> {
  const ids = ofEvents.flatMap(({ node }) => node.eventId ?? []);
  if (ids.length === 0) return new Map();
  const rows = await database
    .select(read)
    .from(events)
    .where(and(eq(events.spaceId, spaceId), inArray(events.id, ids)));
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Traces of spans whose events are not stored yet: the ledger has the ids of erased, expired and merged ones.
 */
async function findIncomplete(
  database: Database,
  spaceId: string,
  missing: readonly StoredNode[],
): Promise<Set<string>> {
  const ids = missing.flatMap(({ eventId }) => eventId ?? []);
  if (ids.length === 0) return new Set();
  const isStored = database
    .select({ id: events.id })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), eq(events.id, eventIds.id)));
  const removed = await database
    .select({ id: eventIds.id })
    .from(eventIds)
    .where(and(eq(eventIds.spaceId, spaceId), inArray(eventIds.id, ids), notExists(isStored)));
  const gone = new Set(removed.map(({ id }) => id));
  return new Set(missing.flatMap(({ eventId, traceId }) => (gone.has(eventId ?? '') ? [] : traceId)));
}

type ContextRow = Pick<typeof events.$inferSelect, (typeof contextColumns)[number] | 'attributes'>;

/**
 * The text of an event as it was sent, with the agent, thread and user that came with other spans as its last
 * member, `inherited`. The text of an event that inherited nothing is returned as it is.
 */
export function withInherited(text: string, row: ContextRow): string {
  if (row.attributes?.[spanProperty] === undefined) return text;
  const bytes = Buffer.from(text);
  const place = findMember(bytes, 'context');
  const sent = place === undefined ? {} : JSON.parse(bytes.toString('utf8', place.start, place.end));
  const inherited = contextColumns.filter((name) => row[name] !== null && sent?.[name] === undefined);
  if (inherited.length === 0) return text;
  const members = Object.fromEntries(inherited.map((name) => [name, row[name]]));
  return `${text.slice(0, -1)},"inherited":${JSON.stringify(members)}}`;
}
