import { type SQL, sql } from 'drizzle-orm';
import { dimensions, events, segments } from '../../db/schema.ts';
import { listOf, nameOf, numberOf } from '../../db/statement.ts';
import { dimensionsMax, dimensionValueCharsMax } from '../limits.ts';

/**
 * The dimensions of spaces in statements that count events (ADR 45): the common table expression
 * `space_dimensions` has a row for each space that has any.
 */

const { spaceId, number, name, cursor, removedAt } = dimensions;
const [numbers, names, cursors] = [number, name, cursor].map((column) => sql.identifier(`${column.name}s`));

/** The names of dimensions that are no columns begin with it. The key of an additional property follows. */
export const attributePrefix = 'attr.';

/**
 * The inside of `space_dimensions`.
 * @param isDeclared the condition on spaces and dimensions.
 * @param lock `FOR SHARE` where stored events change: counting what was stored before waits then, or is
 * waited for.
 */
export function selectDimensions(isDeclared: SQL, lock = sql``): SQL {
  return sql`
  SELECT ${nameOf(spaceId)}, array_agg(${nameOf(number)}) AS ${numbers}, array_agg(${nameOf(name)}) AS ${names},
    array_agg(${nameOf(cursor)}) AS ${cursors}, max(${nameOf(number)}) AS newest_number
  FROM (
    SELECT * FROM ${dimensions} WHERE ${nameOf(removedAt)} IS NULL AND ${isDeclared} ORDER BY ${nameOf(number)} ${lock}
  ) AS declared GROUP BY ${nameOf(spaceId)}`;
}

/** The column of rows that {@link withDimensions} adds. */
export const isCountedBySpace = sql`${numbers} IS NOT NULL`;

/**
 * Rows of events, with the dimensions of their spaces. FULL JOIN, since nested loops cannot make one: who
 * reads it leaves out spaces without such rows.
 * @param isStored whether they were stored before, so that dimensions which have not counted them yet are
 * left out.
 */
export function withDimensions(from: SQL, isStored: boolean): SQL {
  const joined = sql`${from} AS counted FULL JOIN space_dimensions USING (${nameOf(spaceId)})`;
  return isStored ? sql`${joined} LEFT JOIN counted_segments USING (${nameOf(events.segmentId)})` : joined;
}

/**
 * The inside of `counted_segments`, which statements have that count stored events, besides `measured`: what
 * dimensions had counted of the segments when they were stored.
 */
export function selectCountedSegments(space: SQL): SQL {
  return sql`
  SELECT ${segments.id} AS ${nameOf(events.segmentId)}, ${segments.dimensions} AS counted_number FROM ${segments}
  WHERE ${segments.spaceId} = ${space} AND ${segments.id} = ANY (ARRAY(SELECT ${nameOf(events.segmentId)} FROM measured))
    AND (SELECT count(*) FROM space_dimensions) > 0`;
}

/**
 * The values of an event of such rows, as an array: `NUMBER=VALUE`, `NUMBER` for a dimension of which it has
 * no value, and null for those that do not count it; null in a space without dimensions. A value that is too
 * long keeps one character more than the longest. Stored rows without a segment count in all dimensions.
 */
export function valuesOf(isStored: boolean): SQL {
  const values = Array.from({ length: dimensionsMax }, (_, index) => {
    const place = numberOf(index + 1);
    const value = sql`${numbers}[${place}] || coalesce('=' || left(CASE ${names}[${place}] WHEN 'user' THEN ${nameOf(events.userId)}
        WHEN 'agent' THEN ${nameOf(events.agentId)} ELSE ${nameOf(events.attributes)} ->> substr(${names}[${place}], ${numberOf(attributePrefix.length + 1)})
      END, ${numberOf(dimensionValueCharsMax + 1)}), '')`;
    return isStored
      ? sql`CASE WHEN ${nameOf(events.segmentId)} IS NULL OR counted_number >= ${numbers}[${place}] OR ${nameOf(events.segmentId)} <= ${cursors}[${place}] THEN ${value} END`
      : value;
  });
  return sql`CASE WHEN ${isCountedBySpace} THEN ARRAY[${listOf(values)}] END`;
}
