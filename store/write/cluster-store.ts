import { type SQL, sql } from 'drizzle-orm';
import { type PgColumn, PgDialect } from 'drizzle-orm/pg-core';
import { columnTypes } from '../../event/columns.ts';
import { splitElements } from '../../event/text.ts';
import type { Part } from '../../platform/queue/group.ts';
import type { Sql } from '../db/connect.ts';
import { commitCounters, deletedSpaces, events, segments, traces } from '../db/schema.ts';
import { arrayParameter, type CompiledStatement, compileStatement, namesOf } from '../db/statement.ts';
import { orderParameters, parameterValues, partColumns, replayedColumn } from './parameters.ts';
import { findRepeatedIds, idsOf } from './repeats.ts';
import {
  countByDay,
  countUsage,
  insertCommits,
  insertEvents,
  insertIds,
  insertSegments,
  isFirst,
  noteTraces,
  numberCommits,
  ofPart,
  type UnfoldedName,
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
const noted = { space: 'noted_space', traceIds: 'noted_traces' } as const;
const declared = 'space_dimensions';
const numbered = { spaceIds: 'numbered_spaces', numbers: 'numbers' } as const;
/** For each part, as countParts has them. */
const counts = [
  { name: 'stored', type: 'bigint' },
  { name: 'first_ms', type: 'float8' },
  { name: 'last_ms', type: 'float8' },
] as const;

/** Only the columns that a statement reads: Citus plans it more than once, and copies it for that. */
function unfoldColumns(columns: readonly PgColumn[], ...more: string[]): SQL {
  const names = [...columns.map(({ name }) => name), ...more];
  return unfoldParts([...partColumns, ...counts].filter(({ name }) => names.includes(name)));
}

/**
 * The events of parts that are stored: those of a part are all new, or the statement of segments fails.
 *
 * @param names the columns of the new events that the statement reads.
 */
function fromEvents(names: readonly UnfoldedName[], more = sql``): SQL {
  return sql`WITH parts AS (${unfoldColumns(ofPart, 'stored')} WHERE stored IS NOT NULL
), new_events AS MATERIALIZED (${unfoldIncoming(sql`true`, names)}
)${more} `;
}

const fromParts = (parts: SQL, more = sql``) => sql`WITH stored_parts AS (${parts})${more} `;

const tokens = ['inputTokens', 'outputTokens', 'totalTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;
const priced = ['reasoningTokens', 'priceClass', 'usageParts', 'reportedCost'] as const;
const measured = [
  ...(['startTimeMs', 'durationMs', 'state', 'type', 'name', 'source'] as const),
  ...[...tokens, ...priced],
] as const;
/** Read once by the transaction: all of its statements have the same. */
const spaceDimensions = sql`, space_dimensions AS (
  SELECT * FROM json_to_recordset(${sql.placeholder(declared)}::json)
    AS declared(${namesOf([events.spaceId])} uuid, numbers smallint[], names text[], cursors uuid[], newest_number smallint))`;
const commitNumber = sql`, commit_number AS (
  SELECT * FROM unnest(${arrayParameter(numbered.spaceIds, columnTypes.id)}, ${arrayParameter(numbered.numbers, 'bigint')})
    AS numbered(${namesOf([commitCounters.spaceId, commitCounters.lastNumber])}))`;

const insertNewIds = compileStatement(
  insertIds(sql`WITH parts AS (${unfoldColumns(ofPart)}), incoming AS (${unfoldIncoming(isFirst)}) `),
);
const { spaceId, segmentId, receivedAt } = events;
const { apiKeyId, eventCount } = segments;
const ofDays = unfoldColumns([spaceId, receivedAt, apiKeyId, eventCount], replayedColumn, 'stored');
const countDays = compileStatement(countByDay(fromParts(ofDays)));
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
const numberNewCommits = compileStatement(numberCommits(fromParts(unfoldColumns([spaceId], 'stored'))));
const insertRest: readonly CompiledStatement[] = [
  insertCommits(fromParts(unfoldColumns([spaceId, segmentId, receivedAt], 'stored'), commitNumber)),
  countUsage(fromParts(unfoldColumns([spaceId, receivedAt], 'stored'))),
  insertSegments(fromParts(unfoldParts([...partColumns, ...counts]), spaceDimensions)),
].map(compileStatement);
const countEvents = compileStatement(
  insertDeltas({ ...newEvents, countedBy: 'all but dimensions' }, fromEvents([...measured, 'agentId'])),
);
/** When one of the spaces has dimensions. */
const countByDimensions = compileStatement(
  insertDeltas(newEvents, fromEvents([...measured, 'agentId', 'userId', 'attributes'], spaceDimensions)),
);

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
  const stored = await client.begin(async (transaction) => {
    // The lock of this query, held until COMMIT, is the one that a deletion waits for when it begins.
    const spaceIds = `{${parts.map(({ spaceId }) => spaceId).join()}}`;
    const gone = await transaction.unsafe<{ space_id: string }[]>(findDeleted, [spaceIds], {
      prepare: true,
    });
    if (gone.length > 0) return new Set(gone.map((row) => row.space_id));
    const sliced = await transaction.unsafe(findDimensions, [spaceIds], { prepare: true });
    values.set(declared, JSON.stringify(sliced));
    const run = <Row extends Record<string, unknown>>(statement: CompiledStatement) =>
      transaction.unsafe<Row[]>(statement.text, orderParameters(statement, values), { prepare: true });
    const kept = await run<{ space_id: string; id: string }>(insertNewIds);
    const isNew = new Set(kept.map((row) => keyOf(row.space_id, row.id)));
    for (const [name, value] of countStored(parts, isNew)) values.set(name, value);
    if (kept.length === 0) {
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
    const countNew = sliced.length === 0 ? countEvents : countByDimensions;
    await Promise.all([countDays, ...insertRest, countNew].map(run));
    return kept.length;
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

/** The values of {@link counts}: of repeated events, which are parts of their own, none is stored. */
function countStored(parts: readonly Part[], isNew: Set<string>): Map<string, string> {
  const rows = parts.map((part) => {
    // Of equal ids, the first is stored.
    const stored = [...idsOf(part)].filter((id) => isNew.delete(keyOf(part.spaceId, id))).length;
    if (stored === 0) return ['NULL', 'NULL', 'NULL'];
    const times = splitElements(part.columns?.startTimeMs ?? '').map(Number);
    return [stored, times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))];
  });
  return new Map(counts.map(({ name }, at) => [name, `{${rows.map((row) => row[at]).join()}}`]));
}
