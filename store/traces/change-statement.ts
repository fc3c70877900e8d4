import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import {
  commitCounters,
  eventChanges,
  events,
  notes,
  segments,
  traceNodes,
  traces,
  usageDays,
  usageMonths,
} from '../db/schema.ts';
import { compileStatement, listOf, nameOf, namesOf } from '../db/statement.ts';
import { settleNotes } from '../notes/evaluated-span.ts';
import { changedRows, insertDeltas, removedRows } from '../write/statistics/deltas.ts';
import { selectCountedSegments, selectDimensions } from '../write/statistics/space-dimensions.ts';
import { columns, context, ofEvent, rowsOf } from './change-parameters.ts';

/** The statement that changes stored events of traces. It is its own transaction (ADR 4). */

const { id, segmentId, traceId } = events;
const { mergedEventId, removedEventId } = traceNodes;

const space = sql`${sql.placeholder('space')}::uuid`;
const kept = (column: PgColumn) => sql`kept.${nameOf(column)}`;
const change = (column: PgColumn) => sql`change.${nameOf(column)}`;
const isResolved = sql`${change(traceId)} IN (SELECT ${nameOf(traceId)} FROM resolved)`;
const isSameEvent = sql`${kept(events.spaceId)} = ${space} AND ${kept(id)} = ${change(id)} AND ${kept(segmentId)} = ${change(segmentId)}
    AND ${isResolved}`;
const filled = listOf(
  Object.values(context).map(
    (column) => sql`${nameOf(column)} = coalesce(${change(column)}, ${kept(column)})`,
  ),
);

export const changeAll = compileStatement(buildStatement(true));

/** Without removed and replaced events: Postgres plans the full statement for tens of milliseconds. */
export const changeFilled = compileStatement(buildStatement(false));

/** Only notes that the traces are resolved. */
export const changeNothing = compileStatement(sql`
WITH resolved AS (${noteResolved()}
  RETURNING ${kept(traces.traceId)}
)${settleResolved()}
SELECT ${nameOf(traceId)} AS trace FROM resolved`);

function buildStatement(isWhole: boolean): SQL {
  return sql`
${lockAll()}
${changeContexts()}
${isWhole ? changeCalls() : sql``}
${noteChanges(isWhole)}
${changeSegments()}
${isWhole ? removeSegments() : sql``}
${countChanges(isWhole)}
${isWhole ? sql`` : settleResolved()}
SELECT ${nameOf(traceId)} AS trace FROM resolved`;
}

/** Not in the statement that merges calls, and moves notes itself: another one follows it. */
function settleResolved(): SQL {
  return sql`, settled_notes AS (${settleNotes(space, (id) => sql`${id} IN (SELECT ${nameOf(traceId)} FROM resolved)`)}
)`;
}

/**
 * In the order of retention and erasure, which lock segments first. The rows are locked in subqueries: Citus
 * would read the result of a common table expression that locks rows of a join in another format than it
 * writes it.
 */
function lockAll(): SQL {
  return sql`
WITH space_dimensions AS MATERIALIZED (${selectDimensions(sql`${nameOf(events.spaceId)} = ${space}`, sql`FOR SHARE`)}
), locked AS MATERIALIZED (SELECT * FROM (
  SELECT ${segments.id}, ${segments.apiKeyId} FROM ${segments} JOIN ${rowsOf('segments', columns.segment)}
    ON ${segments.id} = ${change(segments.id)}
  WHERE ${segments.spaceId} = ${space} AND (SELECT count(*) FROM space_dimensions) >= 0 AND (change.hash IS NULL OR encode(sha256(${segments.body}), 'hex') = change.hash)
  ORDER BY ${segments.id} FOR UPDATE OF ${segments}
) AS locked), unchanged AS MATERIALIZED (SELECT * FROM (
  SELECT ${traces.traceId} FROM ${traces}
  JOIN ${rowsOf('traces', columns.trace)} ON ${traces.traceId} = ${change(traceId)} AND ${traces.version} = ${change(traces.version)}
  WHERE ${traces.spaceId} = ${space} AND (SELECT count(*) FROM locked) >= 0
  ORDER BY ${traces.traceId} FOR UPDATE OF ${traces}
) AS unchanged), resolved AS (${noteResolved()}
    -- All or nothing: a segment may have events of several traces.
    AND (SELECT count(*) FROM locked) = json_array_length(${sql.placeholder('segments')}::json)
    AND (SELECT count(*) FROM unchanged) = json_array_length(${sql.placeholder('traces')}::json)
  RETURNING ${kept(traces.traceId)}
)`;
}

function noteResolved(): SQL {
  return sql`
  UPDATE ${traces} AS kept SET ${nameOf(traces.version)} = change.next_version,
    ${nameOf(traces.unresolvedSince)} = CASE WHEN NOT change.is_resolved THEN ${kept(traces.unresolvedSince)} END
  FROM ${rowsOf('traces', columns.trace)}
  WHERE ${kept(traces.spaceId)} = ${space} AND ${kept(traces.traceId)} = ${change(traceId)}
    AND ${kept(traces.version)} = ${change(traces.version)}`;
}

/** What spans and events inherit. */
function changeContexts(): SQL {
  return sql`, changed_nodes AS (
  UPDATE ${traceNodes} AS kept SET ${filled},
    ${nameOf(mergedEventId)} = CASE WHEN NOT coalesce(change.is_dropped, false)
      THEN coalesce(${change(mergedEventId)}, ${kept(mergedEventId)}) END,
    ${nameOf(traceNodes.eventId)} = CASE WHEN NOT coalesce(change.is_removed, false) THEN ${kept(traceNodes.eventId)} END,
    ${nameOf(removedEventId)} = CASE WHEN coalesce(change.is_removed, false) THEN ${kept(traceNodes.eventId)} ELSE ${kept(removedEventId)} END
  FROM ${rowsOf('nodes', columns.node)}
  WHERE ${kept(traceNodes.spaceId)} = ${space} AND ${kept(traceNodes.traceId)} = ${change(traceId)}
    AND ${kept(traceNodes.spanId)} = ${change(traceNodes.spanId)} AND ${isResolved}
  RETURNING ${kept(traceNodes.spanId)}
), filled_events AS (
  UPDATE ${events} AS kept SET ${filled} FROM ${rowsOf('fills', columns.fill)}
  WHERE ${isSameEvent}
  RETURNING ${kept(id)}, old AS before, new AS after
)`;
}

/** Events that get another text, and those that are removed, with the notes on them. */
function changeCalls(): SQL {
  const set = listOf(Object.values(ofEvent).map((column) => sql`${nameOf(column)} = ${change(column)}`));
  return sql`, replaced_events AS (
  UPDATE ${events} AS kept SET ${set} FROM ${rowsOf('replaced', ofEvent)}
  WHERE ${isSameEvent}
  RETURNING ${kept(id)}, old AS before, new AS after
), removed_events AS (
  DELETE FROM ${events} AS kept USING ${rowsOf('removed', columns.removed)}
  WHERE ${isSameEvent}
  RETURNING kept.*
), moved_notes AS (
  -- To the event into which theirs was merged. Citus runs this after changed_nodes, and reads what that wrote.
  UPDATE ${notes} AS kept SET ${nameOf(notes.targetId)} = ${change(mergedEventId)}::text
  FROM ${rowsOf('nodes', columns.node)} JOIN ${traceNodes} AS node ON node.${nameOf(traceNodes.traceId)} = ${change(traceId)}
    AND node.${nameOf(traceNodes.spanId)} = ${change(traceNodes.spanId)}
  WHERE ${kept(notes.spaceId)} = ${space} AND node.${nameOf(traceNodes.spaceId)} = ${space} AND ${kept(notes.target)} = 'event'
    AND ${kept(notes.targetId)} = coalesce(node.${nameOf(traceNodes.eventId)}, node.${nameOf(removedEventId)})::text
    AND change.is_removed AND ${change(mergedEventId)} IS NOT NULL AND ${isResolved}
  RETURNING ${kept(notes.id)}
)`;
}

/**
 * Notes the changed events under the next number of the space. It stands before the statistics: Postgres runs
 * CTEs that nothing reads in reverse order, so all statements of a space lock its counter last.
 */
function noteChanges(isWhole: boolean): SQL {
  const { spaceId, lastNumber, lastChange } = commitCounters;
  const { number, eventIds } = eventChanges;
  return sql`, changed_events AS (
  SELECT array_agg(DISTINCT ${nameOf(id)}) AS ids FROM (${changedIds(isWhole)}) AS changed HAVING count(*) > 0
), change_number AS (
  INSERT INTO ${commitCounters} AS kept (${namesOf([spaceId, lastNumber, lastChange])})
  SELECT ${space}, 0, 1 FROM changed_events
  ON CONFLICT (${nameOf(spaceId)}) DO UPDATE SET ${nameOf(lastChange)} = kept.${nameOf(lastChange)} + 1
  RETURNING ${nameOf(lastChange)}
), noted AS (
  INSERT INTO ${eventChanges} (${namesOf([eventChanges.spaceId, number, eventIds])})
  SELECT ${space}, ${nameOf(lastChange)}, ids FROM change_number, changed_events
  RETURNING ${nameOf(number)}
)`;
}

function changedIds(isWhole: boolean): SQL {
  const names = ['filled_events', ...(isWhole ? ['replaced_events', 'removed_events'] : [])];
  return sql.join(
    names.map((name) => sql`SELECT ${nameOf(id)} FROM ${sql.identifier(name)}`),
    sql` UNION ALL `,
  );
}

function changeSegments(): SQL {
  const { id: segment, spaceId, terms, body, rawBytes, eventCount } = segments;
  return sql`, changed_segments AS (
  UPDATE ${segments} AS kept
  SET ${nameOf(terms)} = ${kept(terms)} || ARRAY(SELECT unnest(${change(terms)}) EXCEPT SELECT unnest(${kept(terms)})),
    ${nameOf(body)} = coalesce(decode(change.base64, 'base64'), ${kept(body)}),
    ${nameOf(rawBytes)} = coalesce(${change(rawBytes)}, ${kept(rawBytes)}),
    ${nameOf(eventCount)} = ${kept(eventCount)} - coalesce(change.removed, 0)
  FROM ${rowsOf('segments', columns.segment)}
  WHERE ${kept(spaceId)} = ${space} AND ${kept(segment)} = ${change(segment)}
    AND EXISTS (SELECT 1 FROM resolved) AND NOT coalesce(change.is_empty, false)
  RETURNING ${kept(segment)}
)`;
}

/** Segments that have no events any more, and usage. */
function removeSegments(): SQL {
  return sql`, emptied_segments AS (
  DELETE FROM ${segments} AS kept USING ${rowsOf('segments', columns.segment)}
  WHERE ${kept(segments.spaceId)} = ${space} AND ${kept(segments.id)} = ${change(segments.id)}
    AND EXISTS (SELECT 1 FROM resolved) AND change.is_empty
  RETURNING ${kept(segments.id)}
), usage AS (${subtractUsage()}
), by_day AS (${subtractByDay()}
)`;
}

/** Takes changed events out of the statistics, and adds them as they are now. */
function countChanges(isWhole: boolean): SQL {
  const further = isWhole
    ? sql` UNION ALL ${changedRows(sql`replaced_events`)} UNION ALL ${removedRows(sql`removed_events`)}`
    : sql``;
  return sql`, measured AS MATERIALIZED (${changedRows(sql`filled_events`)}${further}
), counted_segments AS MATERIALIZED (${selectCountedSegments(space)}
), deltas AS (${insertDeltas({ from: sql`measured`, isStored: true })}
)`;
}

function subtractUsage(): SQL {
  const { spaceId, month, events: count } = usageMonths;
  return sql`
  UPDATE ${usageMonths} AS kept SET ${nameOf(count)} = ${kept(count)} - gone.removed
  FROM (
    SELECT to_char(${nameOf(events.receivedAt)} AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS removed
    FROM removed_events GROUP BY 1
  ) AS gone
  WHERE ${kept(spaceId)} = ${space} AND ${kept(month)} = gone.month
  RETURNING gone.month`;
}

function subtractByDay(): SQL {
  const { spaceId, day, apiKeyId, events: count } = usageDays;
  return sql`
  UPDATE ${usageDays} AS kept SET ${nameOf(count)} = ${kept(count)} - gone.removed
  FROM (
    SELECT (${nameOf(events.receivedAt)} AT TIME ZONE 'UTC')::date AS day, ${nameOf(segments.apiKeyId)} AS api_key, count(*) AS removed
    FROM removed_events JOIN locked ON locked.${nameOf(segments.id)} = removed_events.${nameOf(segmentId)} GROUP BY 1, 2
  ) AS gone
  WHERE ${kept(spaceId)} = ${space} AND ${kept(day)} = gone.day AND ${kept(apiKeyId)} = gone.api_key
  RETURNING gone.day`;
}
