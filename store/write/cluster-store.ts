import { type SQL, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { columnTypes } from '../../event/columns.ts';
import type { Part } from '../../platform/queue/group.ts';
import type { Sql } from '../db/connect.ts';
import { commitCounters, deletedSpaces, events, traces } from '../db/schema.ts';
import { arrayParameter, type CompiledStatement, compileStatement, namesOf } from '../db/statement.ts';
import { orderParameters, parameterValues } from './parameters.ts';
import { findRepeatedIds, idsOf } from './repeats.ts';
import {
  countByDay,
  countParts,
  countUsage,
  insertCommits,
  insertEvents,
  insertIds,
  insertSegments,
  noteTraces,
  numberCommits,
  type UnfoldedName,
  unfoldEvents,
  unfoldedNames,
  unfoldIncoming,
  unfoldParts,
} from './statement-parts.ts';
import { insertDeltas, newEvents } from './statistics/deltas.ts';
import { selectDimensions } from './statistics/space-dimensions.ts';

/**
 * Stores parts on a Citus cluster as the store statement does (statement.ts), in one transaction of several
 * statements (ADR 35). In one statement Citus copies the result of each part to every node: it costs two
 * messages to each of them, and fails when any node is away. These statements reach only the nodes of their
 * spaces.
 */

/** Parameters of these statements besides those of the store statement. */
const fresh = 'fresh';
const noted = { space: 'noted_space', traceIds: 'noted_traces' } as const;
const declared = 'space_dimensions';
const numbered = { spaceIds: 'numbered_spaces', numbers: 'numbers' } as const;

const isFresh = sql`position = ANY (${arrayParameter(fresh, 'bigint')})`;

/** @param names the columns of the new events that the statement reads. */
function fromEvents(names: readonly UnfoldedName[], more = sql``): SQL {
  const freshEvents = sql`(${unfoldIncoming(isFresh)})`;
  return sql`WITH parts AS (${unfoldParts()}
), new_events AS MATERIALIZED (${unfoldEvents(names, freshEvents)}
)${more} `;
}

const counted = (more = sql``) =>
  fromEvents(['startTimeMs'], sql`, stored_parts AS MATERIALIZED (${countParts()})${more}`);

const tokens = ['inputTokens', 'outputTokens', 'totalTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;
const measured = ['startTimeMs', 'durationMs', 'state', 'type', 'name', 'source', ...tokens] as const;
const priced = ['reasoningTokens', 'priceClass', 'usageParts', 'reportedCost'] as const;
/** Read once by the transaction: all of its statements have the same. */
const spaceDimensions = sql`, space_dimensions AS (
  SELECT * FROM json_to_recordset(${sql.placeholder(declared)}::json)
    AS declared(${namesOf([events.spaceId])} uuid, numbers smallint[], names text[], cursors uuid[], newest_number smallint))`;
const commitNumber = sql`, commit_number AS (
  SELECT * FROM unnest(${arrayParameter(numbered.spaceIds, columnTypes.id)}, ${arrayParameter(numbered.numbers, 'bigint')})
    AS numbered(${namesOf([commitCounters.spaceId, commitCounters.lastNumber])}))`;

const insertNewIds = compileStatement(
  insertIds(sql`WITH parts AS (${unfoldParts()}), incoming AS (${unfoldIncoming(isFresh)}) `),
);
const countDays = compileStatement(countByDay(counted()));
/** In the order in which the store statement locks rows. */
const insertNewEvents = compileStatement(insertEvents(fromEvents(unfoldedNames)));
const findTraces = compileStatement(sql`
  SELECT ${traces.spaceId}, array_agg(${traces.traceId})::text AS trace_ids FROM ${traces}
  WHERE ${traces.spaceId} = ANY (${arrayParameter(events.spaceId.name, columnTypes.id)})
    AND ${traces.traceId} = ANY (${arrayParameter('traceId', columnTypes.id)})
  GROUP BY 1 ORDER BY 1`);
const notedSpace = sql`${sql.placeholder(noted.space)}::uuid`;
const noteNewTraces = compileStatement(
  noteTraces(sql`${traces.traceId} = ANY (${arrayParameter(noted.traceIds, columnTypes.id)})`, notedSpace),
);
const numberNewCommits = compileStatement(numberCommits(counted()));
const insertRest: readonly CompiledStatement[] = [
  insertCommits(counted(commitNumber)),
  countUsage(counted()),
  insertDeltas(
    newEvents,
    fromEvents([...measured, ...priced, 'userId', 'agentId', 'attributes'], spaceDimensions),
  ),
  insertSegments(counted(spaceDimensions)),
].map(compileStatement);

/**
 * Stores parts in one transaction.
 * @param parts well-formed.
 * @param repeated positions of events whose id an earlier one has. A part has only such events or none
 * (separateRepeated).
 * @returns how many rows were new.
 * @throws as the store statement does.
 */
export async function storeOnCluster(
  client: Sql,
  parts: readonly Part[],
  repeated: readonly number[],
): Promise<number> {
  const values = parameterValues(parts, repeated);
  const setPositions = (positions: Iterable<number>) => values.set(fresh, `{${[...positions].join()}}`);
  const placesById = placeIds(parts, new Set(repeated));
  const stored = await client.begin(async (transaction) => {
    // The lock of this query, held until COMMIT, is the one that a deletion waits for when it begins.
    const spaceIds = `{${parts.map(({ spaceId }) => spaceId).join()}}`;
    const gone = await transaction.unsafe<{ space_id: string }[]>(findDeleted, [spaceIds]);
    if (gone.length > 0) return new Set(gone.map((row) => row.space_id));
    const sliced = await transaction.unsafe(findDimensions, [spaceIds]);
    values.set(declared, JSON.stringify(sliced));
    const run = <Row extends Record<string, unknown>>(statement: CompiledStatement) =>
      transaction.unsafe<Row[]>(statement.text, orderParameters(statement, values), { prepare: true });
    setPositions(placesById.values());
    const kept = await run<{ space_id: string; id: string }>(insertNewIds);
    const isNew = kept.map((row) => placesById.get(keyOf(row.space_id, row.id)) ?? 0);
    setPositions(isNew);
    if (isNew.length === 0) {
      await run(countDays);
      return 0;
    }
    const [, found] = await Promise.all([
      run(insertNewEvents),
      run<{ space_id: string; trace_ids: string }>(findTraces),
    ]);
    for (const { space_id, trace_ids } of found) {
      values.set(noted.space, space_id).set(noted.traceIds, trace_ids);
      await run(noteNewTraces);
    }
    const numbers = await run<{ space_id: string; last_number: string }>(numberNewCommits);
    values.set(numbered.spaceIds, `{${numbers.map((row) => row.space_id).join()}}`);
    values.set(numbered.numbers, `{${numbers.map((row) => row.last_number).join()}}`);
    await Promise.all([countDays, ...insertRest].map(run));
    return isNew.length;
  });
  if (typeof stored === 'number') return stored;
  const left = parts.filter(({ spaceId }) => !stored.has(spaceId));
  return left.length === 0 ? 0 : storeOnCluster(client, left, findRepeatedIds(left));
}

/** Deleted spaces are a table of the coordinator, which these statements do not reach. */
const findDeleted = new PgDialect().sqlToQuery(
  sql`SELECT ${deletedSpaces.spaceId} FROM ${deletedSpaces} WHERE ${deletedSpaces.spaceId} = ANY (${sql.raw('$1')}::uuid[])`,
).sql;

const findDimensions = new PgDialect().sqlToQuery(
  selectDimensions(sql.raw(`${deletedSpaces.spaceId.name} = ANY ($1::uuid[])`)),
).sql;

const keyOf = (spaceId: string, id: string) => `${spaceId} ${id}`;

/** The position of each event that is not repeated, from 1 over all parts, by space and id. */
function placeIds(parts: readonly Part[], repeated: ReadonlySet<number>): Map<string, number> {
  const places = new Map<string, number>();
  let position = 0;
  for (const part of parts) {
    for (const id of idsOf(part)) {
      position += 1;
      if (!repeated.has(position)) places.set(keyOf(part.spaceId, id), position);
    }
  }
  return places;
}
