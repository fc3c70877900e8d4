import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { type ColumnName, columnInDatabase, columnNames, columnTypes } from '../../event/columns.ts';
import {
  commitCounters,
  eventIds,
  events,
  segments,
  spaceCommits,
  traces,
  usageDays,
  usageMonths,
} from '../db/schema.ts';
import { arrayParameter, listOf, nameOf, namesOf } from '../db/statement.ts';
import { delayElement } from './latency-sketch.ts';
import { type PartColumn, parameterNames, partColumns, replayedColumn } from './parameters.ts';
import { addTo } from './statistics/measures.ts';

/**
 * The parts of the statement that stores events (statement.ts). Each INSERT reads from the common table
 * expressions that it names: `incoming`, `new_events`, `stored_parts` and `commit_number`. A statement of its
 * own has them in `source`, a WITH clause before its SELECT (cluster-store.ts).
 */

export const ofPart = [events.spaceId, events.segmentId, events.receivedAt];
export const idKey = namesOf([eventIds.spaceId, eventIds.id]);

export type UnfoldedName = Exclude<ColumnName, 'id'>;

/** The columns of events besides their ids, which come first. */
export const unfoldedNames: readonly UnfoldedName[] = columnNames.filter(
  (name) => name !== parameterNames.id,
);

export function unfoldParts(columns: readonly Pick<PartColumn, 'name' | 'type'>[] = partColumns): SQL {
  return sql`
  SELECT * FROM unnest(${listOf(columns.map(({ name, type }) => arrayParameter(name, type)))})
    WITH ORDINALITY AS part(${listOf(columns.map(({ name }) => sql`${sql.identifier(name)}`))}, part)`;
}

/**
 * The ids of events with the columns of their parts.
 * @param where which of them, by `position`, from 1 over all parts.
 * @param names columns of the events besides their ids.
 */
export function unfoldIncoming(where: SQL, names: readonly UnfoldedName[] = []): SQL {
  const { part, id } = parameterNames;
  return sql`
  SELECT ${listOf(ofPart.map((column) => sql`parts.${nameOf(column)}`))}, event.*
  FROM unnest(${listOf([arrayParameter(part, 'integer'), arrayParameter(id, columnTypes.id), ...names.map(asArray)])})
    WITH ORDINALITY AS event(${listOf([sql`part`, nameOf(events.id), ...names.map(asColumn)])}, position)
  JOIN parts USING (part)
  WHERE ${where}`;
}

const asArray = (name: UnfoldedName) => arrayParameter(name, columnTypes[name]);
const asColumn = (name: UnfoldedName) => sql`${sql.identifier(columnInDatabase(name))}`;

/** Of events with equal ids, the first is stored. */
export const isFirst = sql`position <> ALL (${arrayParameter(parameterNames.repeated, 'bigint')})`;

/** The ids go to the ledger; those of new events are returned. */
export function insertIds(source = sql``): SQL {
  return addToLedger(sql`${source} SELECT ${idKey} FROM incoming`, sql`ON CONFLICT DO NOTHING`);
}

/** The ids of all events go to the ledger. One that it has is a violation of its primary key. */
export function insertOnlyNewIds(): SQL {
  return addToLedger(sql`SELECT ${idKey} FROM new_events`, sql``);
}

function addToLedger(ids: SQL, onConflict: SQL): SQL {
  return sql`
  INSERT INTO ${eventIds} (${idKey})
  -- In the order of the key: neighbours share pages, and concurrent statements lock in one order.
  ${ids} ORDER BY ${idKey} ${onConflict}
  RETURNING ${idKey}`;
}

/**
 * Adds columns to the new events. They are unfolded only here: events are wide, and each copy of them takes
 * time.
 */
export function unfoldEvents(names: readonly UnfoldedName[], fresh: SQL): SQL {
  return sql`
  SELECT *
  FROM unnest(${listOf(names.map(asArray))}) WITH ORDINALITY AS event(${listOf(names.map(asColumn))}, position)
  JOIN ${fresh} AS fresh USING (position)`;
}

/**
 * The parts with the number of their new events, NULL without any. Joined once, and by FULL JOIN: nested
 * loops cannot make one, and they would be planned, since Postgres does not know that there may be hundreds
 * of parts.
 */
export function countParts(): SQL {
  return sql`
  SELECT * FROM parts FULL JOIN (
    SELECT part, count(*) AS stored, min(${nameOf(events.startTimeMs)}) AS first_ms, max(${nameOf(events.startTimeMs)}) AS last_ms
    FROM new_events GROUP BY part
  ) AS counts USING (part)`;
}

/** @param where whether to store them at all. */
export function insertEvents(source = sql``, where = sql``): SQL {
  const stored = namesOf([...ofPart, ...columnNames.map((name) => events[name])]);
  return sql`
  INSERT INTO ${events} (${stored})
  ${source} SELECT ${stored} FROM new_events ${where}
  -- Without RETURNING, Citus stores the rows by COPY and reports a rejected row as an internal error, XX000, which would be
  -- retried forever.
  RETURNING ${nameOf(events.id)}`;
}

export function countUsage(source = sql``): SQL {
  const { spaceId, month, events: count } = usageMonths;
  const key = namesOf([spaceId, month]);
  return sql`
  INSERT INTO ${usageMonths} AS kept (${namesOf([spaceId, month, count])})
  ${source} SELECT ${nameOf(events.spaceId)}, to_char(${nameOf(events.receivedAt)} AT TIME ZONE 'UTC', 'YYYY-MM') AS ${nameOf(month)},
    sum(stored)
  FROM stored_parts WHERE stored IS NOT NULL GROUP BY ${key} ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET ${addTo(count)}`;
}

/** Counts by day and API key, including the events that were stored before, unless a replay delivers them. */
export function countByDay(source = sql``): SQL {
  const { spaceId, day, apiKeyId, events: count, repeats } = usageDays;
  const key = namesOf([spaceId, day, apiKeyId]);
  const stored = sql`coalesce(stored, 0)`;
  return sql`
  INSERT INTO ${usageDays} AS kept (${namesOf([spaceId, day, apiKeyId, count, repeats])})
  ${source} SELECT ${nameOf(spaceId)}, (${nameOf(events.receivedAt)} AT TIME ZONE 'UTC')::date AS ${nameOf(day)}, ${nameOf(apiKeyId)},
    sum(${stored}),
    sum(CASE WHEN ${sql.identifier(replayedColumn)} THEN 0 ELSE ${nameOf(segments.eventCount)} - ${stored} END)
  FROM stored_parts
  GROUP BY ${key} ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET ${addTo(count)}, ${addTo(repeats)}`;
}

/** SQLSTATE division_by_zero: no event data can cause it, so it is free to signal a partly known part. */
export const partlyKnownState = '22012';

/**
 * Keeps the segments of parts with new events; a whole retried batch has none, and its segment is dropped.
 * When a part has new and known events, its body holds texts without rows: the statement fails with {@link
 * partlyKnownState} and stores nothing.
 */
export function insertSegments(source = sql``): SQL {
  const { spaceId, id, apiKeyId, receivedAt, eventCount, rawBytes, body, terms } = segments;
  const { minStartMs, maxStartMs, projection, queueStream, queueSequence, dimensions } = segments;
  const columns = [id, spaceId, apiKeyId, receivedAt, rawBytes, projection, queueStream, queueSequence];
  return sql`
  INSERT INTO ${segments} (${namesOf([...columns, eventCount, body, terms, minStartMs, maxStartMs, dimensions])})
  ${source} SELECT ${listOf(columns.map((column) => nameOf(column === id ? events.segmentId : column)))},
    stored / (stored = ${nameOf(eventCount)})::integer,
    substring(${sql.placeholder(parameterNames.bodies)}::bytea FROM body_start FOR body_bytes),
    ${nameOf(terms)}::${sql.raw(terms.getSQLType())}, first_ms, last_ms, newest_number
  FROM stored_parts LEFT JOIN space_dimensions USING (${nameOf(spaceId)}) WHERE stored IS NOT NULL
  RETURNING ${nameOf(id)}`;
}

/**
 * Assigns the next number to each space with a new event. The counter's row stays locked until COMMIT (ADR
 * 0020).
 */
export function numberCommits(source = sql``): SQL {
  const { spaceId, lastNumber } = commitCounters;
  const key = nameOf(spaceId);
  return sql`
  INSERT INTO ${commitCounters} AS kept (${namesOf([spaceId, lastNumber])})
  ${source} SELECT ${key}, 1 FROM stored_parts WHERE stored IS NOT NULL GROUP BY ${key} ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET ${nameOf(lastNumber)} = kept.${nameOf(lastNumber)} + 1
  RETURNING ${namesOf([spaceId, lastNumber])}`;
}

/**
 * Records the segments of each space under its commit number, and how long their new events took from receipt
 * until now: this part of the statement runs near its end, because Postgres runs CTEs that nothing reads in
 * the reverse order.
 */
export function insertCommits(source = sql``): SQL {
  const { spaceId, number, eventCount, segmentIds, delays } = spaceCommits;
  const [key, last, segmentId] = [spaceId, commitCounters.lastNumber, events.segmentId].map(nameOf);
  return sql`
  INSERT INTO ${spaceCommits} (${namesOf([spaceId, number, eventCount, segmentIds, delays])})
  ${source} SELECT ${key}, ${last}, stored, segments, delays
  FROM (
    SELECT ${key}, sum(stored) AS stored, array_agg(${segmentId} ORDER BY ${segmentId}) AS segments, array_agg(${delayElement(sql`stored`)}) AS delays
    FROM stored_parts WHERE stored IS NOT NULL GROUP BY ${key}
  ) AS totals FULL JOIN commit_number USING (${key})
  RETURNING ${key}`;
}

/** The traces of new events that have spans, each by its space. */
export const areOfNewEvents = sql`(${traces.spaceId}, ${traces.traceId}) IN (
      SELECT ${namesOf([events.spaceId, events.traceId])} FROM new_events)`;

/**
 * Traces become unresolved (ADR 27): they get events by a replay from the quarantine, or another order of the
 * messages of a request. They are locked in the order of their key, and before the counters of the space, as
 * by all other statements.
 * @param areNoted the condition on `traces`.
 * @param space of all of them, for Citus: it refuses to lock rows of several spaces.
 */
export function noteTraces(areNoted: SQL, space?: SQL): SQL {
  const { spaceId, traceId, version, unresolvedSince } = traces;
  const known = (column: PgColumn) => sql`known.${nameOf(column)}`;
  const ofSpace = space === undefined ? sql`` : sql`${spaceId} = ${space} AND `;
  return sql`
  UPDATE ${traces} AS kept SET ${nameOf(version)} = kept.${nameOf(version)} + 1,
    ${nameOf(unresolvedSince)} = coalesce(kept.${nameOf(unresolvedSince)}, known.noted_at)
  FROM (
    SELECT ${spaceId}, ${traceId}, now() AS noted_at FROM ${traces} WHERE ${ofSpace}${areNoted}
    ORDER BY 1, 2 FOR UPDATE
  ) AS known
  WHERE kept.${nameOf(spaceId)} = ${space ?? known(spaceId)} AND kept.${nameOf(traceId)} = ${known(traceId)}
  RETURNING kept.${nameOf(traceId)}`;
}
