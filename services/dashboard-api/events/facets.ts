import { and, eq, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { asStored, storableText } from '../../../event/text.ts';
import { timeMsMax } from '../../../platform/limits.ts';
import { minuteMs } from '../../../platform/time.ts';
import { dimensionValues, eventStats } from '../../../store/db/schema.ts';
import { nameOf } from '../../../store/db/statement.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { startsFolded } from '../../../store/read/folded-text.ts';
import { unfoldedValues } from '../../../store/write/statistics/fold-dimensions.ts';
import { attributePrefix } from '../../../store/write/statistics/space-dimensions.ts';
import { completeFilter } from '../charts/cost-rates.ts';
import { type ChartGroup, lookUpDimension, toCountedList } from '../charts/dimension.ts';
import { selectSpans } from '../charts/stat-spans.ts';
import { findStored } from '../charts/stored-counts.ts';
import type { SpaceRows } from '../space-data.ts';
import {
  columnOf,
  countNewest,
  type Facet,
  type FacetField,
  type FacetQuery,
  facet,
  facetValuesMax,
  rowColumns,
} from './newest-facets.ts';

/** In the order of the fields. */
export const facets = z.array(facet);

/**
 * Counts the events of a filter by values, for each field without the conditions on this field: the values
 * beside the wanted one are what it can be replaced by. The work is bounded: from statistics if they have the
 * filter and the field, and no events of them were erased or have expired; otherwise among the newest events.
 * Both widen the range to whole minutes, as statistics have them.
 */
export async function readFacets(
  space: SpaceRows,
  { fields, prefix, filter: asked }: FacetQuery,
): Promise<Facet[]> {
  const { from = -timeMsMax, to = timeMsMax } = asked;
  const range = {
    from: Math.floor(from / minuteMs) * minuteMs,
    to: Math.ceil(to / minuteMs) * minuteMs,
  };
  const stored = await findStored(space, range);
  const counted = await Promise.all(
    fields.map((field) =>
      countByStatistics(
        space,
        { fields: [field], prefix, filter: withoutField(asked, field) },
        { ...range, ...stored },
      ),
    ),
  );
  const uncounted = fields.filter((_, place) => counted[place] === undefined);
  const filter = uncounted.length === 0 ? asked : await completeFilter(space, asked);
  const read: Facet[] = [];
  // Fields with the same filter are counted together.
  for (const own of Map.groupBy(uncounted, (field) => JSON.stringify(withoutField(asked, field))).values()) {
    const [field = 'state'] = own;
    const query = { fields: own, prefix, filter: { ...withoutField(filter, field), ...range } };
    for (const one of await countNewest(space, query)) read.push(await withWholeValue(space, one, prefix));
  }
  return fields.flatMap((field, place) => counted[place] ?? read.find((one) => one.field === field) ?? []);
}

/** The filter without conditions on the field. */
function withoutField(filter: EventFilter, field: FacetField): EventFilter {
  const { attributes, not, ...columns } = filter;
  const column = columnOf(field);
  const key = field.startsWith(attributePrefix) ? field.slice(attributePrefix.length) : undefined;
  return {
    ...columns,
    ...(column !== undefined && { [column]: undefined }),
    attributes: attributes?.filter((one) => one.key !== key),
    not: not?.filter((one) => ('column' in one ? one.column !== column : one.attribute !== key)),
  };
}

const groups: Partial<Record<FacetField, ChartGroup>> = {
  ...{ model: 'model', tool: 'tool', type: 'type', source: 'source', state: 'none' },
  ...{ userId: 'user', agentId: 'agent' },
};

/**
 * @returns undefined when statistics do not have the filter and the field, or count events that are not
 * stored any more.
 */
async function countByStatistics(
  { database, spaceId }: SpaceRows,
  { fields: [field = 'state'], prefix, filter }: FacetQuery,
  { from, to, firstMs, areSomeErased }: { from: number; to: number; firstMs: number; areSomeErased: boolean },
): Promise<Facet | undefined> {
  const list = toCountedList(filter);
  // A field of the union that begins with the prefix is one of an attribute.
  const group = field.startsWith(attributePrefix) ? (field as ChartGroup) : groups[field];
  if (list === undefined || group === undefined) return undefined;
  const sliced = { group, filter: list.filter };
  const dimension = await lookUpDimension(database, spaceId, sliced);
  if (typeof dimension === 'string' || dimension?.isComplete === false) return undefined;
  if (dimension === undefined && areSomeErased) return undefined;
  const [events, errors] = [eventStats.events, eventStats.errors];
  // Bucket 0 has what has expired.
  const boundaries = [from, firstMs, to];
  const isShown = (value: SQL) => startsFolded(value, storableText(prefix));
  // The index has the values: Postgres reads the sums of those that begin with the prefix.
  const wanted =
    prefix === '' || dimension === undefined || dimension.value !== undefined
      ? undefined
      : listValues(spaceId, dimension.number, isShown);
  const query = { boundaries, ...sliced, dimension, values: wanted };
  const spans = selectSpans(spaceId, query, [events, errors]);
  // Rows without errors may have a null.
  const error = sql`coalesce(sum(${nameOf(errors)}), 0)`;
  const counts = { error, ok: sql`coalesce(sum(${nameOf(events)}), 0) - ${error}` };
  const count = (state: SQL, counted: SQL) =>
    sql`SELECT ${state} AS grouped, ${counted} AS events, coalesce(sum(${nameOf(events)}) FILTER (WHERE bucket = 0), 0) AS gone FROM spans`;
  const ofStates = sql.join([sql`0`, ...list.states.map((state) => counts[state])], sql` + `);
  const counted =
    field === 'state'
      ? sql`${count(sql`'ok'`, counts.ok)} UNION ALL ${count(sql`'error'`, counts.error)}`
      : sql`${count(sql`grouped`, ofStates)} WHERE grouped IS DISTINCT FROM '' GROUP BY grouped`;
  const rows = await database.execute<{
    value: string | null;
    events: number;
    total: number;
    gone: number;
  }>(sql`
WITH spans AS (${spans})
SELECT grouped AS value, events::float8 AS events, (sum(events) OVER ())::float8 AS total, (sum(gone) OVER ())::float8 AS gone
FROM (${counted}) AS counted
WHERE (events > 0 OR gone > 0) AND coalesce(${isShown(sql`grouped`)}, true)
ORDER BY grouped IS NULL, events DESC, grouped COLLATE "C" LIMIT ${facetValuesMax}`);
  if ((rows[0]?.gone ?? 0) > 0) return undefined;
  const values = rows.flatMap(({ value, events }) => (value === null ? [] : [{ value, events }]));
  const listed = values.reduce((sum, one) => sum + one.events, 0);
  return { field, values, others: (rows[0]?.total ?? 0) - listed, newest: null };
}

/** Values of a dimension as statistics have them, also those that are not folded yet, and the common one. */
function listValues(spaceId: string, number: number, isShown: (value: SQL) => SQL): SQL {
  const { value } = dimensionValues;
  const ofDimension = and(eq(dimensionValues.spaceId, spaceId), eq(dimensionValues.number, number));
  return sql`ARRAY(
    SELECT '=' || ${value} FROM ${dimensionValues} WHERE ${ofDimension} AND ${isShown(sql`${value}`)}
    UNION SELECT ${nameOf(value)} FROM (${unfoldedValues(spaceId, number)}) AS unfolded WHERE ${isShown(sql`substr(${nameOf(value)}, 2)`)}
    UNION SELECT '')`;
}

/**
 * Adds the prefix as a value, if only other events of the space have it: terms find a whole value wherever it
 * is.
 */
async function withWholeValue(
  { database, spaceId }: SpaceRows,
  found: Facet,
  prefix: string,
): Promise<Facet> {
  const { field, values, newest } = found;
  const value = asStored(prefix);
  if (newest === null || value === '' || values.some((one) => one.value === value)) return found;
  const column = columnOf(field);
  const key = field.slice(attributePrefix.length);
  if (column === undefined && !field.startsWith(attributePrefix)) return found;
  const has = column === undefined ? { attributes: [{ key, value: prefix }] } : { [column]: prefix };
  const query = { filter: has, after: undefined, limit: 1 };
  const page = await readEventPage(database, spaceId, { columns: rowColumns, ...query });
  if (page.rows.length === 0) return found;
  return { ...found, values: [{ value, events: null }, ...values].slice(0, facetValuesMax) };
}
