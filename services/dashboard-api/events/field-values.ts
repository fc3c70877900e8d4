import { and, eq, gte, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { rollupSpansHours } from '../../../event/limits.ts';
import { asStored, storableText } from '../../../event/text.ts';
import { hourMs } from '../../../platform/time.ts';
import type { Database } from '../../../store/db/database.ts';
import { agentStatsRollups, eventStatsRollups, events, statisticDeltas } from '../../../store/db/schema.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { newestFirst } from '../../../store/read/event-position.ts';
import { startsFolded } from '../../../store/read/folded-text.ts';
import { fieldValueDays, fieldValueEvents, fieldValuesMax } from '../limits.ts';
import type { SpaceRows } from '../space-data.ts';

/** `attribute` is a key of the additional properties, or with `key` its values. */
export const completedFields = [
  'name',
  'source',
  'agentId',
  'agentGroupId',
  'userId',
  'threadId',
  'errorCode',
  'attribute',
] as const;

export interface FieldValueQuery {
  field: (typeof completedFields)[number];
  /** Of an additional property: its values instead of the keys. */
  key?: string | undefined;
  /** Ignoring case. */
  prefix: string;
}

export const fieldValues = z
  .object({
    /** At most 20, the most frequent first. */
    values: z.array(z.string()),
    /** The events with each value, among those that `of` names; null for a value of older events only. */
    counts: z.array(z.number().nullable()),
    /** All of the last 30 days, or only the newest ones of the space. */
    of: z.enum(['last 30 days', 'newest events']),
  })
  .meta({ id: 'FieldValues' });
export type FieldValues = z.infer<typeof fieldValues>;

/**
 * Values that begin with a text. Models, tools, sources and agents are from statistics, others from the
 * newest events; a whole value is also found by its term.
 */
export async function readFieldValues(
  { database, spaceId }: SpaceRows,
  query: FieldValueQuery,
): Promise<FieldValues> {
  const counted = countedValues(spaceId, query.field);
  const top = await readTop(database, counted ?? newestValues(spaceId, query), query.prefix);
  if (counted !== undefined) return { ...top, of: 'last 30 days' };
  const own = asStored(query.prefix);
  const isKnown = top.values.includes(own) || !(await hasValue(database, spaceId, query));
  if (isKnown) return { ...top, of: 'newest events' };
  return {
    values: [own, ...top.values].slice(0, fieldValuesMax),
    counts: [null, ...top.counts].slice(0, fieldValuesMax),
    of: 'newest events',
  };
}

/** From statistics: `value` and its number of events, `events`. */
function countedValues(spaceId: string, field: FieldValueQuery['field']): SQL | undefined {
  const column = countedColumns[field];
  if (column === undefined) return undefined;
  const table = field === 'agentId' ? agentStatsRollups : eventStatsRollups;
  const unfolded = statisticDeltas[field === 'agentId' || field === 'source' ? field : 'name'];
  const firstHour = Math.floor(Date.now() / hourMs) - fieldValueDays * 24;
  return sql`SELECT ${column} AS value, ${table.events} AS events FROM ${table} WHERE ${and(
    eq(table.spaceId, spaceId),
    eq(table.spanHours, Math.max(...rollupSpansHours)),
    gte(table.startHour, firstHour),
  )}
  UNION ALL SELECT ${unfolded}, ${statisticDeltas.events} FROM ${statisticDeltas} WHERE ${and(
    eq(statisticDeltas.spaceId, spaceId),
    isNotNull(unfolded),
    eq(statisticDeltas.isOfDimensions, false),
    gte(statisticDeltas.minute, firstHour * 60),
  )}`;
}

type Columns = Partial<Record<FieldValueQuery['field'], PgColumn>>;

const countedColumns: Columns = {
  name: eventStatsRollups.name,
  source: eventStatsRollups.source,
  agentId: agentStatsRollups.agentId,
};

const otherColumns: Columns = {
  userId: events.userId,
  threadId: events.threadId,
  agentGroupId: events.agentGroupId,
  errorCode: events.errorCode,
};

/** From the newest events: one row for each value of an event. */
function newestValues(spaceId: string, { field, key }: FieldValueQuery): SQL {
  const [value, from] = valueIn(field, key);
  return sql`SELECT ${value} AS value, 1 AS events FROM (
    SELECT ${events.userId}, ${events.threadId}, ${events.agentGroupId}, ${events.errorCode}, ${events.attributes}
    FROM ${events} WHERE ${eq(events.spaceId, spaceId)}
    ORDER BY ${sql.join(newestFirst(), sql`, `)} LIMIT ${fieldValueEvents}) AS events ${from}`;
}

function valueIn(field: FieldValueQuery['field'], key: string | undefined): [value: SQL, from: SQL] {
  const column = otherColumns[field];
  if (column !== undefined) return [sql`${column}`, sql``];
  if (key !== undefined) return [sql`${events.attributes} ->> ${storableText(key)}`, sql``];
  return [sql`key`, sql`CROSS JOIN LATERAL json_object_keys(${events.attributes}) AS key`];
}

async function readTop(
  database: Database,
  values: SQL,
  prefix: string,
): Promise<Pick<FieldValues, 'values'> & { counts: number[] }> {
  const rows = await database.execute<{ value: string; events: number }>(sql`
SELECT value, sum(events)::float8 AS events
FROM (${values}) AS found WHERE value <> '' AND ${startsFolded(sql`value`, storableText(prefix))}
GROUP BY value ORDER BY sum(events) DESC, value COLLATE "C" LIMIT ${fieldValuesMax}`);
  return { values: rows.map(({ value }) => value), counts: rows.map(({ events }) => events) };
}

/** Terms find a whole value wherever it is. */
async function hasValue(database: Database, spaceId: string, query: FieldValueQuery): Promise<boolean> {
  const filter = filterOf(query);
  if (filter === undefined) return false;
  const columns = { id: events.id, startTimeMs: events.startTimeMs };
  const page = await readEventPage(database, spaceId, columns, { filter, after: undefined, limit: 1 });
  return page.rows.length > 0;
}

function filterOf({ field, key, prefix }: FieldValueQuery): EventFilter | undefined {
  if (prefix === '') return undefined;
  if (field !== 'attribute') return { [field]: prefix };
  return key === undefined ? undefined : { attributes: [{ key, value: prefix }] };
}
