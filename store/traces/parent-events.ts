import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { spanProperty } from '../../event/attributes.ts';
import type { Database } from '../db/database.ts';
import { events, traceNodes } from '../db/schema.ts';
import { compileStatement, nameOf, runCompiled } from '../db/statement.ts';

/** An event, and the additional properties that ingest gives to one of OpenTelemetry. */
export interface SpanEvent {
  readonly id: string;
  readonly traceId: string | null;
  readonly attributes: Readonly<Record<string, unknown>> | null;
}

/** The property with the event above, stored only if ingest knew it from the same request. */
export const parentProperty = 'otel.parent_event_id';

/** Spans above an event that are looked at. */
const climbedMax = 64;

/**
 * The additional properties of events, with the parent by the spans known now: the nearest event above,
 * whichever request it came in. Those of events without a known span stay as they are.
 */
export async function withParents<Row extends SpanEvent>(
  database: Database,
  spaceId: string,
  rows: readonly Row[],
): Promise<Row[]> {
  const spans = rows.filter(
    (row) => row.traceId !== null && typeof row.attributes?.[spanProperty] === 'string',
  );
  if (spans.length === 0) return [...rows];
  const parents = await readParents(database, spaceId, spans);
  return rows.map((row) => {
    const parent = parents.get(row.id);
    if (parent === undefined) return row;
    const { [parentProperty]: _, ...others } = row.attributes ?? {};
    return { ...row, attributes: parent === null ? others : { ...others, [parentProperty]: parent } };
  });
}

/** @returns null for an event with no event above. */
async function readParents(
  database: Database,
  spaceId: string,
  spans: readonly SpanEvent[],
): Promise<Map<string, string | null>> {
  const arrayOf = (values: readonly unknown[]) => `{${values.map((value) => JSON.stringify(value)).join()}}`;
  const values: Record<string, string> = {
    space: spaceId,
    ids: arrayOf(spans.map(({ id }) => id)),
    traces: arrayOf(spans.map(({ traceId }) => traceId)),
    spans: arrayOf(spans.map(({ attributes }) => attributes?.[spanProperty])),
  };
  const found = await runCompiled<{ child: string; parent: string | null }>(
    database.$client,
    statement,
    values,
  );
  const ids = [...new Set(found.flatMap(({ parent }) => parent ?? []))];
  const stored = await database
    .select({ id: events.id })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), inArray(events.id, ids)));
  const known = new Set(stored.map(({ id }) => id));
  // An event with a row has a known span; its last row has the parent.
  const parents = new Map<string, string | null>();
  for (const { child, parent } of found)
    if (parent === null) parents.set(child, parents.get(child) ?? null);
    else if (known.has(parent)) parents.set(child, parent);
  return parents;
}

const statement = compileStatement(buildStatement());

function buildStatement(): SQL {
  const { spaceId, traceId, spanId, parentSpanId, eventId, mergedEventId } = traceNodes;
  const node = (column: PgColumn) => sql`node.${nameOf(column)}`;
  // A span that was merged is part of its event, which is not above itself.
  const eventOfNode = sql`nullif(coalesce(${node(eventId)}, ${node(mergedEventId)}), up.child)`;
  const isOfSpace = sql`${node(spaceId)} = ${sql.placeholder('space')}::uuid`;
  return sql`
WITH RECURSIVE up(child, trace, parent_span, parent, depth) AS (
  SELECT span.child, ${node(traceId)}, ${node(parentSpanId)}, NULL::uuid, 0
  FROM unnest(${sql.placeholder('ids')}::uuid[], ${sql.placeholder('traces')}::uuid[], ${sql.placeholder('spans')}::text[])
    AS span(child, trace, span)
  JOIN ${traceNodes} AS node ON ${isOfSpace} AND ${node(traceId)} = span.trace AND ${node(spanId)} = span.span
  UNION ALL
  SELECT up.child, up.trace, ${node(parentSpanId)}, ${eventOfNode}, up.depth + 1
  FROM up JOIN ${traceNodes} AS node ON ${isOfSpace} AND ${node(traceId)} = up.trace AND ${node(spanId)} = up.parent_span
  WHERE up.parent IS NULL AND up.depth < ${sql.raw(String(climbedMax))}
)
SELECT child, parent FROM up WHERE parent IS NOT NULL OR depth = 0`;
}
