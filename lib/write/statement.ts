import { type SQL, sql } from 'drizzle-orm';
import {
  commitCounters,
  eventIds,
  events,
  quarantine,
  replayedEvents,
  segments,
  spaceCommits,
  traces,
  usageDays,
  usageMonths,
} from '../db/schema.ts';
import {
  arrayParameter,
  type CompiledStatement,
  compileStatement,
  listOf,
  nameOf,
  namesOf,
} from '../db/statement.ts';
import { columnInDatabase, columnTypes, countedColumnNames, storedColumnNames } from '../event/columns.ts';
import type { Part } from '../queue/group.ts';
import { delayElement } from './latency-sketch.ts';
import {
  entryParameters,
  parameterNames,
  parameterValues,
  partColumns,
  replayedColumn,
} from './parameters.ts';
import { findRepeatedIds } from './repeats.ts';
import { addTo, countByAgent, countByName } from './statistics.ts';

/**
 * The one statement that stores events (ADR 0004). A statement is its own transaction: ids, rows, usage counter,
 * statistics and segments appear together or not at all. The ledger of ids decides which events are new, and only those
 * are stored and counted: a redelivered message changes nothing and bills nothing.
 *
 * It is built once, from the schema, and prepared on each connection.
 */
const store = compileStatement(buildStatement());
const replay = compileStatement(buildStatement(removeEntry()));

export const storeStatement = store.text;

/** Stores a part only if it removes the part's entry from the quarantine, unchanged. */
export const replayStatement = replay.text;

/**
 * The parameters of the statement for these well-formed parts, in its order.
 *
 * @param repeated positions of events whose id an earlier one has. A part has only such events or none (separateRepeated).
 */
export function storeParameters(
  parts: readonly Part[],
  repeated: readonly number[] = findRepeatedIds(parts),
): (string | Buffer)[] {
  return orderParameters(store, parameterValues(parts, repeated));
}

/** An entry of the quarantine at the time it was read. */
export interface ReadEntry {
  readonly spaceId: string;
  readonly id: string;
  /** SHA-256 of its part. */
  readonly hash: Buffer;
}

/** The parameters of a replay of this well-formed part of one event. */
export function replayParameters(part: Part, entry: ReadEntry): (string | Buffer)[] {
  const values = parameterValues([part], []);
  for (const name of ['spaceId', 'id', 'hash'] as const) values.set(entryParameters[name], entry[name]);
  return orderParameters(replay, values);
}

function orderParameters(
  { parameters }: CompiledStatement,
  values: ReadonlyMap<string, string | Buffer>,
): (string | Buffer)[] {
  return parameters.map((name) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`the store statement has an unknown parameter ${name}`);
    return value;
  });
}

/** The hash keeps an entry that an erasure has rewritten since it was read: replaying the old bytes would restore erased events. */
function removeEntry(): SQL {
  const { spaceId, id, part } = quarantine;
  const { spaceId: ofSpace, id: withId, hash } = entryParameters;
  return sql`
  DELETE FROM ${quarantine} WHERE ${spaceId} = ${sql.placeholder(ofSpace)}::uuid AND ${id} = ${sql.placeholder(withId)}::uuid
    AND sha256(${part}) = ${sql.placeholder(hash)}::bytea
  RETURNING ${nameOf(id)}`;
}

/** @param removal a DELETE ... RETURNING: when it deletes no row, nothing is stored. */
function buildStatement(removal?: SQL): SQL {
  const { part, id, repeated } = parameterNames;
  const ofPart = [events.spaceId, events.segmentId, events.receivedAt];
  const stored = namesOf([...ofPart, ...storedColumnNames.map((name) => events[name])]);
  const unfolded = [...storedColumnNames.filter((name) => name !== id), ...countedColumnNames];
  const key = namesOf([eventIds.spaceId, eventIds.id]);
  const [byName, byAgent] = [countByName('name_counts'), countByAgent('agent_counts')];
  return sql`
WITH ${
    removal === undefined
      ? sql``
      : sql`removed AS (${removal}
), `
  }parts AS (
  SELECT * FROM unnest(${listOf(partColumns.map(({ name, type }) => arrayParameter(name, type)))})
    WITH ORDINALITY AS part(${listOf(partColumns.map(({ name }) => sql`${sql.identifier(name)}`))}, part)
  ${removal === undefined ? sql`` : sql`WHERE EXISTS (SELECT 1 FROM removed)`}
), incoming AS (
  SELECT ${listOf(ofPart.map((column) => sql`parts.${nameOf(column)}`))}, event.*
  FROM unnest(${arrayParameter(part, 'integer')}, ${arrayParameter(id, columnTypes.id)})
    WITH ORDINALITY AS event(part, ${nameOf(events.id)}, position)
  JOIN parts USING (part)
  -- Of events with equal ids, the first is stored.
  WHERE position <> ALL (${arrayParameter(repeated, 'bigint')})
), new_ids AS (
  INSERT INTO ${eventIds} (${key})
  -- In the order of the key: neighbours share pages, and concurrent statements lock in one order.
  SELECT ${key} FROM incoming ORDER BY ${key}
  ON CONFLICT DO NOTHING
  RETURNING ${key}
), new_events AS MATERIALIZED (
  -- The other columns are unfolded here: events are wide, and each copy of them takes time.
  SELECT *
  FROM unnest(${listOf(unfolded.map((name) => arrayParameter(name, columnTypes[name])))})
    WITH ORDINALITY AS event(${listOf(unfolded.map((name) => sql`${sql.identifier(columnInDatabase(name))}`))}, position)
  JOIN (SELECT incoming.* FROM incoming JOIN new_ids USING (${key})) AS fresh USING (position)
), part_counts AS MATERIALIZED (
  SELECT part, count(*) AS stored, min(${nameOf(events.startTimeMs)}) AS first_ms, max(${nameOf(events.startTimeMs)}) AS last_ms
  FROM new_events GROUP BY part
), inserted AS (
  INSERT INTO ${events} (${stored})
  SELECT ${stored} FROM new_events
  -- Without RETURNING, Citus stores the rows by COPY and reports a rejected row as an internal error, XX000, which would be
  -- retried forever.
  RETURNING ${nameOf(events.id)}
), commit_number AS (${numberCommits()}
), kept_commit AS (${keepCommits()}
${
  removal === undefined
    ? sql``
    : sql`), replayed AS (${noteReplayed()}
`
}), usage AS (${countUsage()}
), by_day AS (${countByDay()}
), name_counts AS MATERIALIZED (${byName.counts}
), by_name AS (${byName.byMinute}
), by_name_hours AS (${byName.byHours}
), agent_counts AS MATERIALIZED (${byAgent.counts}
), by_agent AS (${byAgent.byMinute}
), by_agent_hours AS (${byAgent.byHours}
), segment AS (${keepSegments()}
)
-- Reads from the INSERT, so that rows and indexes are written before the counters are locked, which all statements of a space need.
SELECT count(*)::integer AS inserted${removal === undefined ? sql`` : sql`, (SELECT count(*)::integer FROM removed) AS removed`} FROM inserted`;
}

/** Notes an event whose trace was resolved without it. */
function noteReplayed(): SQL {
  const { spaceId, eventId, traceId } = replayedEvents;
  return sql`
  INSERT INTO ${replayedEvents} (${namesOf([spaceId, eventId, traceId])})
  SELECT ${listOf([events.spaceId, events.id, events.traceId].map((column) => sql`event.${nameOf(column)}`))}
  FROM new_events AS event JOIN ${traces} AS trace
    ON trace.${nameOf(traces.spaceId)} = event.${nameOf(events.spaceId)} AND trace.${nameOf(traces.traceId)} = event.${nameOf(events.traceId)}
  ON CONFLICT DO NOTHING`;
}

function countUsage(): SQL {
  const { spaceId, month, events: count } = usageMonths;
  const key = namesOf([spaceId, month]);
  return sql`
  INSERT INTO ${usageMonths} AS kept (${namesOf([spaceId, month, count])})
  SELECT ${nameOf(events.spaceId)}, to_char(${nameOf(events.receivedAt)} AT TIME ZONE 'UTC', 'YYYY-MM') AS ${nameOf(month)},
    sum(stored)
  FROM parts JOIN part_counts USING (part) GROUP BY ${key} ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET ${addTo(count)}`;
}

/** Counts by day and API key, including the events that were stored before, unless a replay delivers them. */
function countByDay(): SQL {
  const { spaceId, day, apiKeyId, events: count, repeats } = usageDays;
  const key = namesOf([spaceId, day, apiKeyId]);
  const stored = sql`coalesce(stored, 0)`;
  return sql`
  INSERT INTO ${usageDays} AS kept (${namesOf([spaceId, day, apiKeyId, count, repeats])})
  SELECT ${nameOf(spaceId)}, (${nameOf(events.receivedAt)} AT TIME ZONE 'UTC')::date AS ${nameOf(day)}, ${nameOf(apiKeyId)},
    sum(${stored}),
    sum(CASE WHEN ${sql.identifier(replayedColumn)} THEN 0 ELSE ${nameOf(segments.eventCount)} - ${stored} END)
  FROM parts LEFT JOIN part_counts USING (part)
  GROUP BY ${key} ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET ${addTo(count)}, ${addTo(repeats)}`;
}

/** SQLSTATE division_by_zero: no event data can cause it, so it is free to signal a partly known part. */
export const partlyKnownState = '22012';

/**
 * Keeps the segments of parts with new events; a whole retried batch has none, and its segment is dropped. When a part has
 * new and known events, its body holds texts without rows: the statement fails with {@link partlyKnownState} and stores
 * nothing.
 */
function keepSegments(): SQL {
  const { spaceId, id, apiKeyId, receivedAt, eventCount, rawBytes, body, terms } = segments;
  const { minStartMs, maxStartMs, projection, queueStream, queueSequence } = segments;
  const columns = [id, spaceId, apiKeyId, receivedAt, rawBytes, projection, queueStream, queueSequence];
  return sql`
  INSERT INTO ${segments} (${namesOf([...columns, eventCount, body, terms, minStartMs, maxStartMs])})
  SELECT ${listOf(columns.map((column) => nameOf(column === id ? events.segmentId : column)))},
    stored / (stored = ${nameOf(eventCount)})::integer,
    substring(${sql.placeholder(parameterNames.bodies)}::bytea FROM body_start FOR body_bytes),
    ${nameOf(terms)}::${sql.raw(terms.getSQLType())}, first_ms, last_ms
  FROM parts JOIN part_counts USING (part)
  RETURNING ${nameOf(id)}`;
}

/** Assigns the next number to each space with a new event. The counter's row stays locked until COMMIT (ADR 0020). */
function numberCommits(): SQL {
  const { spaceId, lastNumber } = commitCounters;
  const key = nameOf(spaceId);
  return sql`
  INSERT INTO ${commitCounters} AS kept (${namesOf([spaceId, lastNumber])})
  SELECT ${key}, 1 FROM parts JOIN part_counts USING (part) GROUP BY ${key} ORDER BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET ${nameOf(lastNumber)} = kept.${nameOf(lastNumber)} + 1
  RETURNING ${namesOf([spaceId, lastNumber])}`;
}

/**
 * Records the segments of each space under its commit number, and how long their new events took from receipt until now: this part of
 * the statement runs near its end, because Postgres runs CTEs that nothing reads in the reverse order.
 */
function keepCommits(): SQL {
  const { spaceId, number, eventCount, segmentIds, delays } = spaceCommits;
  const [key, last, segmentId] = [spaceId, commitCounters.lastNumber, events.segmentId].map(nameOf);
  return sql`
  INSERT INTO ${spaceCommits} (${namesOf([spaceId, number, eventCount, segmentIds, delays])})
  SELECT ${key}, ${last}, sum(stored), array_agg(${segmentId} ORDER BY ${segmentId}), array_agg(${delayElement(sql`stored`)})
  FROM parts JOIN part_counts USING (part) JOIN commit_number USING (${key}) GROUP BY ${key}, ${last}
  RETURNING ${key}`;
}
