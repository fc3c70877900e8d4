import { z } from 'zod';
import { events } from '../../../store/db/schema.ts';
import type { EventCursor } from '../../../store/read/event-cursor.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { type EventPageQuery, readEventPage } from '../../../store/read/event-page.ts';
import { startsFoldedText } from '../../../store/read/folded-text.ts';
import { attributePrefix } from '../../../store/write/statistics/space-dimensions.ts';
import { visitInSlices } from '../slices.ts';
import type { SpaceRows } from '../space-data.ts';

/** Fields whose values one call counts, and the values listed of each. */
export const facetFieldsMax = 20;
export const facetValuesMax = 20;

/**
 * Newest events whose values are counted where statistics do not have them, and how many of them one
 * statement reads: 5,000 at once would hold the event loop for too long.
 */
const facetEventsMax = 5_000;
const facetRowsAtOnce = 1_000;

/** Columns whose values are counted. `model` and `tool` are the names of calls of a type. */
const facetColumns = [
  ...(['type', 'state', 'source', 'userId', 'agentId'] as const),
  ...(['agentGroupId', 'threadId', 'errorCode'] as const),
];

/**
 * What values are counted of: a column, `attr.KEY`, or `attribute`, the keys of the additional properties.
 */
export const facetField = z.union([
  z.enum(['model', 'tool', ...facetColumns, 'attribute']),
  z.templateLiteral([attributePrefix, z.string().max(256)]),
]);
export type FacetField = z.infer<typeof facetField>;

export const facet = z
  .object({
    field: facetField,
    /**
     * The most frequent first. Events is null for the prefix itself, if only other events of the space have
     * it.
     */
    values: z.array(z.object({ value: z.string(), events: z.number().nullable() })),
    /** The number of events with other values than the listed ones; empty values are not counted. */
    others: z.number(),
    /**
     * Null when all events of the filter were counted, otherwise how many of the newest, and the start of the
     * oldest of them.
     */
    newest: z.object({ events: z.number(), untilMs: z.number() }).nullable(),
  })
  .meta({ id: 'Facet' });
export type Facet = z.infer<typeof facet>;

export interface FacetQuery {
  readonly fields: readonly FacetField[];
  /** The beginning of the values, ignoring case. */
  readonly prefix: string;
  readonly filter: EventFilter;
}

type FacetColumn = (typeof facetColumns)[number] | 'name';

/** The column that a field has conditions on; undefined for attributes. */
export function columnOf(field: FacetField): FacetColumn | undefined {
  if (field === 'model' || field === 'tool') return 'name';
  return facetColumns.find((column) => column === field);
}

export const rowColumns = { id: events.id, startTimeMs: events.startTimeMs };
const valueColumns = {
  ...rowColumns,
  ...{ type: events.type, state: events.state, name: events.name, source: events.source },
  ...{ userId: events.userId, agentId: events.agentId, agentGroupId: events.agentGroupId },
  ...{ threadId: events.threadId, errorCode: events.errorCode },
};
const withAttributes = { ...valueColumns, attributes: events.attributes };

type Row = Pick<typeof events.$inferSelect, FacetColumn> &
  Partial<Pick<typeof events.$inferSelect, 'attributes'>>;

/** Counts the newest events of a filter by the values of fields. */
export async function countNewest(
  { database, spaceId }: SpaceRows,
  { fields, prefix, filter }: FacetQuery,
): Promise<Facet[]> {
  const columns = fields.every((field) => columnOf(field) !== undefined) ? valueColumns : withAttributes;
  const startsWith = startsFoldedText(prefix);
  const tallies = fields.map((field) => ({ field, counts: new Map<string, number>() }));
  let [read, after] = [0, undefined as EventCursor | undefined];
  let page: { isComplete: boolean };
  do {
    const query: EventPageQuery = { filter, after, limit: facetRowsAtOnce };
    const found = await readEventPage(database, spaceId, { columns, ...query });
    await visitInSlices(found.rows, (row) => {
      for (const { field, counts } of tallies)
        for (const value of valuesOf(row, field))
          if (value !== '' && startsWith(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
    });
    page = found;
    read += found.rows.length;
    after = found.next;
  } while (after !== undefined && page.isComplete && read < facetEventsMax);
  const newest = after === undefined ? null : { events: read, untilMs: after.startTimeMs };
  return tallies.map(({ field, counts }) => {
    const ranked = Array.from(counts, ([value, number]) => ({ value, events: number })).toSorted(
      (a, b) => b.events - a.events || (a.value < b.value ? -1 : 1),
    );
    const others = ranked.slice(facetValuesMax).reduce((sum, one) => sum + one.events, 0);
    return { field, values: ranked.slice(0, facetValuesMax), others, newest };
  });
}

function valuesOf(row: Row, field: FacetField): string[] {
  if (field === 'attribute') return Object.keys(row.attributes ?? {});
  const column = columnOf(field);
  if ((field === 'model' && row.type !== 'llm') || (field === 'tool' && row.type !== 'tool')) return [];
  const value = column === undefined ? attributeOf(row, field.slice(attributePrefix.length)) : row[column];
  return value == null ? [] : [value];
}

function attributeOf({ attributes }: Row, key: string): string | undefined {
  return attributes != null && Object.hasOwn(attributes, key) ? String(attributes[key]) : undefined;
}
