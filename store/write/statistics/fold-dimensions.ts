import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { dimensions, dimensionValues, sliceStats, statisticDeltas } from '../../db/schema.ts';
import { nameOf, namesOf, numberOf } from '../../db/statement.ts';
import { dimensionValueCharsMax, dimensionValuesMax } from '../limits.ts';

/**
 * The rows of slices that deltas are folded into (ADR 45). The first values of a dimension have rows of their
 * own, `=VALUE`; all others share one, which is empty. So a value is counted on its own from its first event
 * on, or never. The events without a value have rows as well: all values together are all events minus these.
 */

/** The value of the rows of events without one. */
export const noValue = '-';

const { spaceId, number, value } = dimensionValues;
const key = [spaceId, number, value];

const unnestValues = sql`
      SELECT split.*, split_part(entry, '=', 1)::smallint AS ${nameOf(number)}, substr(entry, nullif(strpos(entry, '='), 0) + 1) AS ${nameOf(value)}
      FROM deltas AS split CROSS JOIN LATERAL unnest(${nameOf(statisticDeltas.dimensionValues)}) AS entry WHERE entry IS NOT NULL`;

/** Not of a dimension that was removed meanwhile. @param areFolded the condition on spaces. */
const isDeclared = (areFolded: SQL) => sql`(${namesOf([spaceId, number])}) IN (
    SELECT ${namesOf([dimensions.spaceId, dimensions.number])} FROM ${dimensions} WHERE ${dimensions.removedAt} IS NULL AND ${areFolded})`;

const none = sql.raw(`'${noValue}'`);

const isSame = sql`${dimensionValues.spaceId} = seen.${nameOf(spaceId)} AND ${dimensionValues.number} = seen.${nameOf(number)}`;

/** Whether a value of `seen` has rows of its own. */
const isKnown = (areFolded: SQL) =>
  sql`EXISTS (SELECT FROM ${dimensionValues} WHERE ${areFolded} AND ${isSame} AND ${dimensionValues.value} = seen.${nameOf(value)})`;

/** The inside of `values_seen`, the values of `deltas` that are not too long. */
export function selectValuesSeen(areFolded: SQL): SQL {
  return sql`
  SELECT DISTINCT ${namesOf(key)} FROM (${unnestValues}) AS each
  WHERE ${isDeclared(areFolded)} AND char_length(${nameOf(value)}) <= ${numberOf(dimensionValueCharsMax)}`;
}

/** Adds those of `values_seen` that get rows of their own now. @param source as in statement-parts.ts. */
export function insertNewValues(areFolded: SQL, source = sql``): SQL {
  return sql`
  INSERT INTO ${dimensionValues} (${namesOf(key)})
  ${source} SELECT ${namesOf(key)} FROM (
    SELECT ${namesOf(key)}, row_number() OVER (PARTITION BY ${namesOf([spaceId, number])} ORDER BY ${nameOf(value)}) AS place
    FROM values_seen AS seen WHERE NOT ${isKnown(areFolded)}
  ) AS seen
  WHERE place <= ${numberOf(dimensionValuesMax)} - (SELECT count(*) FROM ${dimensionValues} WHERE ${areFolded} AND ${isSame})
  ORDER BY ${namesOf(key)}
  -- Another statement may have added the value: both count it.
  ON CONFLICT (${namesOf(key)}) DO UPDATE SET ${nameOf(value)} = excluded.${nameOf(value)}
  RETURNING ${namesOf(key)}`;
}

/** The inside of `own_values`, those of `values_seen` that have rows of their own: also `new_values`. */
export const selectOwnValues = sql`
  SELECT ${namesOf(key)} FROM new_values UNION SELECT ${namesOf(key)} FROM values_seen AS seen WHERE ${isKnown(sql`true`)}`;

/** The inside of `own_values` when new values have been inserted by an earlier statement. */
export function selectKnownValues(areFolded: SQL): SQL {
  return sql`SELECT ${namesOf(key)} FROM ${dimensionValues} WHERE ${areFolded}`;
}

/**
 * The rows of slices of `deltas`: those of dimension 0, and one for each dimension that counts a delta. Costs
 * are not read of events without a value.
 * @param columns of deltas.
 */
export function selectSlices(areFolded: SQL, columns: readonly PgColumn[]): SQL {
  const { priceClass, isOfDimensions } = statisticDeltas;
  const { dimension, value: shown } = sliceStats;
  return sql`
    SELECT ${namesOf(columns)}, 0::smallint AS ${nameOf(dimension)}, '' AS ${nameOf(shown)}, ${nameOf(priceClass)}, elements
    FROM deltas WHERE ${nameOf(priceClass)} IS NOT NULL AND NOT ${nameOf(isOfDimensions)}
    UNION ALL
    SELECT ${namesOf(columns)}, ${nameOf(number)}, CASE WHEN ${nameOf(value)} IS NULL THEN ${none} WHEN (${namesOf(key)}) IN (SELECT ${namesOf(key)} FROM own_values) THEN '=' || ${nameOf(value)} ELSE '' END,
      coalesce(${nameOf(priceClass)}, ''), elements
    FROM (${unnestValues}) AS each
    WHERE ${isDeclared(areFolded)} AND (${nameOf(value)} IS NOT NULL OR ${nameOf(priceClass)} IS NULL)`;
}

/**
 * The deltas of a space that a dimension counts, each with the column `value` of the row that it will be
 * folded into.
 */
export function unfoldedValues(space: string, dimension: number): SQL {
  const ofDimension = sql`${dimensionValues.spaceId} = ${space}::uuid AND ${dimensionValues.number} = ${dimension}::smallint`;
  return sql`
    SELECT ${statisticDeltas}.*, CASE WHEN entry IS NULL THEN ${none} WHEN char_length(entry) <= ${numberOf(dimensionValueCharsMax)} AND (
        EXISTS (SELECT FROM ${dimensionValues} WHERE ${ofDimension} AND ${dimensionValues.value} = entry)
        OR (SELECT count(*) FROM ${dimensionValues} WHERE ${ofDimension}) < ${numberOf(dimensionValuesMax)}
      ) THEN '=' || entry ELSE '' END AS ${nameOf(value)}
    FROM ${statisticDeltas} CROSS JOIN LATERAL (
      SELECT substr(one, nullif(strpos(one, '='), 0) + 1) AS entry FROM unnest(${statisticDeltas.dimensionValues}) AS one
      WHERE split_part(one, '=', 1) = ${String(dimension)}::text
    ) AS values WHERE ${statisticDeltas.spaceId} = ${space}::uuid`;
}
