import { type SQL, sql } from 'drizzle-orm';
import type { Part } from '../../platform/queue/group.ts';
import { isNotDeleted } from '../db/deleted-spaces.ts';
import { events, quarantine } from '../db/schema.ts';
import { type CompiledStatement, compileStatement, nameOf } from '../db/statement.ts';
import { entryParameters, orderParameters, parameterValues } from './parameters.ts';
import { findRepeatedIds } from './repeats.ts';
import {
  areOfNewEvents,
  countByDay,
  countParts,
  countUsage,
  idKey,
  insertCommits,
  insertEvents,
  insertIds,
  insertOnlyNewIds,
  insertSegments,
  isFirst,
  noteTraces,
  numberCommits,
  unfoldEvents,
  unfoldedNames,
  unfoldIncoming,
  unfoldParts,
} from './statement-parts.ts';
import { insertDeltas, newEvents } from './statistics/deltas.ts';
import { selectDimensions } from './statistics/space-dimensions.ts';

/**
 * The one statement that stores events (ADR 0004). A statement is its own transaction: ids, rows, usage
 * counter, statistics and segments appear together or not at all. The ledger of ids decides which events are
 * new, and only those are stored and counted: a redelivered message changes nothing and bills nothing. Parts
 * of deleted spaces are left out.
 *
 * It is built once, from the schema, and prepared on each connection.
 */
export const storeStatement = compileStatement(buildStatement(unfoldFresh()));

/**
 * The store statement for events that are all new, an eighth cheaper (ADR 0042). When the ledger has one of
 * the ids, it fails with 23505, and stores nothing.
 */
export const storeOnlyNewStatement = compileStatement(buildStatement(unfoldOnlyNew()));

const entrySpace = sql`${sql.placeholder(entryParameters.spaceId)}::uuid`;

const replay = compileStatement(buildStatement(unfoldFresh(), removeEntry()));

/** Stores a part only if it removes the part's entry from the quarantine, unchanged. */
export const replayStatement = replay.text;

/**
 * The parameters of one of these statements for these well-formed parts, in its order.
 * @param repeated positions of events whose id an earlier one has. A part has only such events or none
 * (separateRepeated).
 */
export function storeParameters(
  statement: CompiledStatement,
  parts: readonly Part[],
  repeated: readonly number[] = findRepeatedIds(parts),
): (string | Buffer)[] {
  return orderParameters(statement, parameterValues(parts, repeated));
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

/**
 * The hash keeps an entry that an erasure has rewritten since it was read: replaying the old bytes would
 * restore erased events.
 */
function removeEntry(): SQL {
  const { spaceId, id, part } = quarantine;
  const { id: withId, hash } = entryParameters;
  return sql`
  DELETE FROM ${quarantine} WHERE ${spaceId} = ${entrySpace} AND ${id} = ${sql.placeholder(withId)}::uuid
    AND sha256(${part}) = ${sql.placeholder(hash)}::bytea
  RETURNING ${nameOf(id)}`;
}

/** The common table expressions `new_ids` and `new_events`, and whether the events are stored at all. */
interface NewRows {
  readonly expressions: SQL;
  readonly where?: SQL;
}

/** The events that the ledger does not know. */
function unfoldFresh(): NewRows {
  // IS TRUE makes Postgres hash the ids. It would join them by nested loops, since it does not know how many
  // there are.
  const isNew = sql`((${idKey}) IN (SELECT ${idKey} FROM new_ids)) IS TRUE`;
  return {
    expressions: sql`incoming AS (${unfoldIncoming(isFirst)}
), new_ids AS (${insertIds()}
), new_events AS MATERIALIZED (${unfoldEvents(unfoldedNames, sql`(SELECT * FROM incoming WHERE ${isNew})`)}
)`,
  };
}

/** All events. They are neither looked up in the ledger first nor unfolded in two steps. */
function unfoldOnlyNew(): NewRows {
  return {
    expressions: sql`new_events AS MATERIALIZED (${unfoldIncoming(isFirst, unfoldedNames)}
), new_ids AS (${insertOnlyNewIds()}
)`,
    // The ledger first: when it has an id, nothing else is written.
    where: sql`WHERE (SELECT count(*) FROM new_ids) > 0`,
  };
}

/** @param removal a DELETE ... RETURNING: when it deletes no row, nothing is stored. */
function buildStatement({ expressions, where }: NewRows, removal?: SQL): SQL {
  return sql`
WITH ${
    removal === undefined
      ? sql``
      : sql`removed AS (${removal}
), `
  }parts AS (${unfoldParts()}
  WHERE ${isNotDeleted(sql`part.${nameOf(events.spaceId)}`)}${removal === undefined ? sql`` : sql` AND EXISTS (SELECT 1 FROM removed)`}
), ${expressions}, stored_parts AS MATERIALIZED (${countParts()}
), inserted AS (${insertEvents(sql``, where)}
), noted_traces AS (${removal === undefined ? noteTraces(areOfNewEvents) : noteTraces(areOfNewEvents, entrySpace)}
), commit_number AS (${numberCommits()}
), kept_commit AS (${insertCommits()}
), usage AS (${countUsage()}
), by_day AS (${countByDay()}
), space_dimensions AS MATERIALIZED (${selectDimensions(sql`${nameOf(events.spaceId)} IN (SELECT ${nameOf(events.spaceId)} FROM parts)`)}
), deltas AS (${insertDeltas(newEvents)}
), segment AS (${insertSegments()}
)
-- Reads from the INSERT, so that rows and indexes are written before the counters are locked, which all statements of a space need.
SELECT count(*)::integer AS inserted, (SELECT count(*)::integer FROM noted_traces) AS traces${removal === undefined ? sql`` : sql`, (SELECT count(*)::integer FROM removed) AS removed`} FROM inserted`;
}
