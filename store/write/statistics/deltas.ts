import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { events, statisticDeltas } from '../../db/schema.ts';
import { listOf, nameOf, namesOf, numberOf } from '../../db/statement.ts';
import { signedElement, sketchElement } from '../latency-sketch.ts';
import { clampedSum, minuteOf, sliceSums, tokens } from './measures.ts';
import { isCountedBySpace, valuesOf, withDimensions } from './space-dimensions.ts';

/**
 * Statistics in two steps (ADR 0040). A statement adds rows of its own, which no other statement changes: its
 * events, counted by minute and all dimensions together. Folding adds the rows of many statements to the
 * statistics at once (fold.ts). Charts read both.
 */

/** The rows that a statement counts, besides `space_dimensions`, which it has (space-dimensions.ts). */
export interface CountedRows {
  /** Their name in the statement. They have the columns of events. */
  readonly from: SQL;
  /**
   * Whether they were stored before. Then the column `sign` is 1 for events that are added, and -1 for those
   * that are subtracted, and dimensions that have not counted them yet are left out.
   */
  readonly isStored: boolean;
  /** Which statistics count them: an erasure changes only those of dimensions. */
  readonly countedBy?: 'all' | 'dimensions' | 'all but dimensions';
}

export const newEvents: CountedRows = { from: sql`new_events`, isStored: false };

/** The columns of an event that statistics count, and those that their dimensions are. */
const measured: readonly PgColumn[] = [
  ...[
    events.spaceId,
    events.segmentId,
    events.type,
    events.name,
    events.source,
    events.state,
    events.agentId,
  ],
  ...[events.userId, events.attributes, events.startTimeMs, events.durationMs, ...tokens],
  ...[events.usageParts, events.priceClass, events.reportedCost],
];

/**
 * The rows that a change of stored events counts: those whose counted columns differ.
 * @param updated what an UPDATE returned, with the rows of events `before` and `after`.
 * @param valueBefore the value that statistics have counted; by default that of the row.
 */
export function changedRows(
  updated: SQL,
  valueBefore = (column: PgColumn) => sql`(before).${nameOf(column)}`,
): SQL {
  const valueAfter = (column: PgColumn) => sql`(after).${nameOf(column)}`;
  const compared = (pick: typeof valueBefore) =>
    // Postgres's json type has no equality operator.
    listOf(
      measured.map((column) => (column.getSQLType() === 'json' ? sql`${pick(column)}::text` : pick(column))),
    );
  const select = (sign: -1 | 1, pick: typeof valueBefore) => sql`
  SELECT ${numberOf(sign)} AS sign, ${listOf(measured.map((column) => sql`${pick(column)} AS ${nameOf(column)}`))}
  FROM ${updated} WHERE (${compared(valueBefore)}) IS DISTINCT FROM (${compared(valueAfter)})`;
  return sql`${select(-1, valueBefore)} UNION ALL ${select(1, valueAfter)}`;
}

/**
 * The rows that removed events are taken out by. @param removed what a DELETE returned, or rows of events.
 */
export function removedRows(removed: SQL): SQL {
  return sql`SELECT -1 AS sign, ${namesOf(measured)} FROM ${removed}`;
}

/** What statistics keep of an erased event. */
const keptOfErased: readonly PgColumn[] = [
  ...[events.spaceId, events.type, events.name, events.source, events.state],
  ...[events.startTimeMs, events.durationMs, ...tokens],
];

/**
 * The rows by which erased events leave the values of dimensions, and are counted by each dimension as events
 * without a value, since the statistics of all events keep them. @param erased rows of events.
 */
export function erasedRows(erased: SQL): SQL {
  const kept = listOf(measured.map((column) => (keptOfErased.includes(column) ? nameOf(column) : sql`NULL`)));
  return sql`${removedRows(erased)} UNION ALL SELECT 1, ${kept} FROM ${erased}`;
}

const { spaceId, minute, type, name, source, agentId, priceClass, usageUnits, reportedCost } =
  statisticDeltas;
const { dimensionValues, isOfDimensions, events: count, errors, durationMs, latency } = statisticDeltas;
const key = [spaceId, minute, type, name, source, agentId, dimensionValues];

/**
 * Counts rows, and their slices. @param source a WITH clause that has the rows, unless the statement has
 * them.
 */
export function insertDeltas(rows: CountedRows, source = sql``): SQL {
  const { isStored } = rows;
  const [countRows, element] = isStored ? [sql`sum(sign)`, signedElement] : [sql`count(*)`, sketchElement];
  const isOnly = sql.raw(String(rows.countedBy === 'dimensions'));
  const sums = (columns: typeof tokens) =>
    listOf(columns.map((column) => sql`nullif(${clampedSum(column, isStored)}, 0)`));
  return sql`
  INSERT INTO ${statisticDeltas} (${namesOf([...key, count, errors, durationMs, ...tokens, latency, isOfDimensions, priceClass, ...sliceSums])})
  ${source} SELECT ${namesOf(key)}, ${countRows}, nullif(${countRows} FILTER (WHERE ${nameOf(events.state)} = 'error'), 0),
    coalesce(${clampedSum(durationMs, isStored)}, 0), ${sums(tokens)}, array_agg(element), ${isOnly}, NULL, NULL, NULL
  FROM (SELECT ${keyOf(rows)}, ${namesOf([events.state, durationMs, ...tokens])}, ${element} AS element FROM ${joined(rows)}) AS measured
  GROUP BY ${namesOf(key)}
  UNION ALL
  SELECT ${namesOf(key)}, 0, NULL, 0, ${sums(tokens)}, '{}', ${isOnly}, ${nameOf(priceClass)}, ${sums(sliceSums)}
  FROM (${sliceRows(rows)}) AS slices
  GROUP BY ${namesOf([...key, priceClass])}`;
}

function joined({ from, isStored, countedBy = 'all' }: CountedRows, where = sql`true`): SQL {
  if (countedBy === 'all but dimensions') return sql`${from} WHERE ${where}`;
  const isCounted = countedBy === 'all' ? sql`` : sql`AND ${isCountedBySpace}`;
  // IS TRUE keeps Postgres from making it a LEFT JOIN, which it would plan as nested loops.
  return sql`${withDimensions(from, isStored)} WHERE (${nameOf(type)} IS NOT NULL AND ${where}) IS TRUE ${isCounted}`;
}

function keyOf({ isStored, countedBy = 'all' }: CountedRows): SQL {
  const agent = countedBy === 'dimensions' ? sql`NULL::text AS ${nameOf(agentId)}` : nameOf(agentId);
  const values = countedBy === 'all but dimensions' ? sql`NULL::text[]` : valuesOf(isStored);
  return sql`${isStored ? sql`sign, ` : sql``}${namesOf([spaceId, type, source])}, coalesce(${nameOf(name)}, '') AS ${nameOf(name)},
      ${minuteOf}::bigint AS ${nameOf(minute)}, ${agent}, ${values} AS ${nameOf(dimensionValues)}`;
}

/**
 * The rows of slices (ADR 44): the tokens of calls whose price depends on conditions, and the usage with a
 * price of its own. They count no events.
 */
function sliceRows(rows: CountedRows): SQL {
  const { usageParts } = events;
  const [ofClass, ofPart] = [sql`${nameOf(priceClass)} IS NOT NULL`, sql`${nameOf(usageParts)} IS NOT NULL`];
  const keys = sql`${rows.isStored ? sql`sign, ` : sql``}${namesOf(key)}`;
  return sql`
    -- Most calls have neither: they are read once.
    WITH priced AS MATERIALIZED (
      SELECT ${keyOf(rows)}, ${namesOf([priceClass, usageParts, reportedCost, ...tokens])}
      FROM ${joined(rows, sql`(${ofClass} OR ${ofPart})`)}
    )
    SELECT ${keys}, ${nameOf(priceClass)}, NULL::float8 AS ${nameOf(usageUnits)}, ${namesOf([reportedCost, ...tokens])}
    FROM priced WHERE ${ofClass}
    UNION ALL
    SELECT ${keys}, coalesce(${nameOf(priceClass)}, '') || '+' || (used).key, (used).value::float8, NULL, ${listOf(tokens.map(() => sql`NULL`))}
    -- In the list of columns: a join would be a nested loop over all events.
    FROM (SELECT *, json_each_text(${nameOf(usageParts)}) AS used FROM priced WHERE ${ofPart} AND ${nameOf(reportedCost)} IS NULL)
      AS parts_of_usage`;
}
