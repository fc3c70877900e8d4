import { and, lt, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { noSpace } from '../db/limits.ts';
import { commitCounters, spaceCommits, storeDelayPositions, storeDelays } from '../db/schema.ts';
import { nameOf, namesOf, numberOf } from '../db/statement.ts';
import { countOf, mergedSketch } from '../write/latency-sketch.ts';
import { commitsPerFoldMax, delayDays, delaySpansMinutes } from './limits.ts';

/**
 * Adds the delays of new commits to `store_delays`, each once, by any number of writers: the statement
 * advances a space's position, under its row lock, and counts the commits in between, all of them visible
 * because numbers follow the order of COMMIT (ADR 0020).
 * @returns the number of events counted. Spaces with more than {@link commitsPerFoldMax} commits need more
 * calls.
 */
export async function foldDelays(database: Database): Promise<number> {
  const { spaceId, spanMinutes, startMinute, events, delays } = storeDelays;
  const key = namesOf([spaceId, spanMinutes, startMinute]);
  const [row] = await database.execute<{ events: number }>(sql`
WITH claimed AS (${advancePositions()}
), elements AS (
  SELECT ${spaceCommits.spaceId}, element,
    floor(extract(epoch FROM ${spaceCommits.storedAt}) / 60)::bigint AS minute
  FROM claimed JOIN ${spaceCommits} ON ${spaceCommits.spaceId} = claimed.${nameOf(spaceId)}
      AND ${spaceCommits.number} > claimed.${nameOf(storeDelayPositions.previous)}
      AND ${spaceCommits.number} <= claimed.${nameOf(storeDelayPositions.number)}
    CROSS JOIN unnest(${spaceCommits.delays}) AS element
), counted AS (
  SELECT ${nameOf(spaceId)}, ${nameOf(spanMinutes)}, minute / ${nameOf(spanMinutes)} * ${nameOf(spanMinutes)} AS ${nameOf(startMinute)},
    sum(${countOf(sql`element`)}::float8)::bigint AS ${nameOf(events)}, array_agg(element) AS ${nameOf(delays)}
  FROM (
    SELECT ${nameOf(spaceId)}, minute, element FROM elements
    UNION ALL SELECT ${noSpace}::uuid, minute, element FROM elements
  ) AS each CROSS JOIN unnest(${`{${Object.values(delaySpansMinutes).join(',')}}`}::integer[]) AS span(${nameOf(spanMinutes)})
  GROUP BY ${key}
), added AS (
  INSERT INTO ${storeDelays} AS kept (${key}, ${namesOf([events, delays])})
  SELECT ${key}, ${nameOf(events)}, ${mergedSketch(nameOf(delays))} FROM counted ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET ${nameOf(events)} = kept.${nameOf(events)} + excluded.${nameOf(events)},
    ${nameOf(delays)} = ${mergedSketch(sql`kept.${nameOf(delays)} || excluded.${nameOf(delays)}`)}
  RETURNING ${nameOf(spaceId)}
)
SELECT coalesce(sum(${countOf(sql`element`)}::float8), 0)::float8 AS events FROM elements`);
  return row?.events ?? 0;
}

/** In the order of the key, so that concurrent statements lock in one order. */
function advancePositions(): SQL {
  const { spaceId, number, previous } = storeDelayPositions;
  const { lastNumber } = commitCounters;
  const step = numberOf(commitsPerFoldMax);
  const from = sql`coalesce(${number}, greatest(0, ${lastNumber} - ${step}))`;
  return sql`
  INSERT INTO ${storeDelayPositions} AS kept (${namesOf([spaceId, number, previous])})
  SELECT ${commitCounters.spaceId}, least(${lastNumber}, ${from} + ${step}), ${from}
  FROM ${commitCounters} LEFT JOIN ${storeDelayPositions} ON ${spaceId} = ${commitCounters.spaceId}
  WHERE ${lastNumber} > ${from}
  ORDER BY ${commitCounters.spaceId}
  ON CONFLICT (${nameOf(spaceId)}) DO UPDATE SET ${nameOf(previous)} = kept.${nameOf(number)}, ${nameOf(number)} = excluded.${nameOf(number)}
    WHERE kept.${nameOf(number)} < excluded.${nameOf(number)}
  RETURNING ${namesOf([spaceId, previous, number])}`;
}

export async function deleteOldDelays(database: Database): Promise<void> {
  const { spanMinutes, startMinute } = storeDelays;
  const isOld = (['short', 'long'] as const).map((span) =>
    and(
      sql`${spanMinutes} = ${delaySpansMinutes[span]}`,
      lt(startMinute, sql`extract(epoch FROM now() - make_interval(days => ${delayDays[span]})) / 60`),
    ),
  );
  await database.delete(storeDelays).where(or(...isOld));
}
