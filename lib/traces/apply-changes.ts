import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Database } from '../db/database.ts';
import { eventStats, events, segments, traceNodes, traces } from '../db/schema.ts';
import { compileStatement, listOf, nameOf } from '../db/statement.ts';
import { type CountedRows, countByAgent, countByName, isByName } from '../write/statistics.ts';

/** A span, and what it inherits. */
export type NodeChange = Pick<Row, 'traceId'> & { readonly spanId: string } & Context;

/** An event, and values of columns that have none yet. */
export type EventChange = Pick<Row, 'traceId' | 'id' | 'segmentId'> & Context;

/** What an event adds to the statistics, or subtracts from them. */
export interface Measure extends Pick<Row, 'id'> {
  readonly sign: 1 | -1;
  /** Whether it is counted by type, name and source, too. All are counted by agent. */
  readonly isByName: boolean;
}

interface Row {
  readonly traceId: string;
  readonly id: string;
  readonly segmentId: string;
}

interface Context {
  readonly agentId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly userId?: string | undefined;
}

export interface TraceChanges {
  /** The traces with the versions that were read. */
  readonly traces: readonly { readonly traceId: string; readonly version: number }[];
  readonly nodes: readonly NodeChange[];
  readonly events: readonly EventChange[];
  /** Terms that segments get, in the space. */
  readonly segments: readonly { readonly id: string; readonly terms: readonly bigint[] }[];
  readonly measures: readonly Measure[];
}

/**
 * Applies the changes of the traces that still have the version that was read, in one statement: columns, terms of segments and
 * statistics change together. An event that was changed or deleted meanwhile keeps what it has.
 *
 * @returns these traces.
 */
export async function applyChanges(
  database: Database,
  spaceId: string,
  changes: TraceChanges,
): Promise<Set<string>> {
  const { id, segmentId, agentId, threadId, userId, traceId } = events;
  const context = { agentId, threadId, userId };
  const values: Record<string, string> = {
    space: spaceId,
    traces: toJson({ traceId, version: traces.version }, changes.traces),
    nodes: toJson({ traceId, spanId: traceNodes.spanId, ...context }, changes.nodes),
    events: toJson({ traceId, id, segmentId, ...context }, changes.events),
    segments: JSON.stringify(changes.segments.map((one) => ({ id: one.id, terms: one.terms.map(String) }))),
    measures: toJson({ ...measured, sign: 'sign', isByName: 'is_by_name' }, changes.measures),
  };
  const rows = await database.$client.unsafe<{ trace: string }[]>(
    statement.text,
    statement.parameters.map((name) => values[name] ?? ''),
    { prepare: true },
  );
  return new Set(rows.map(({ trace }) => trace));
}

/** The columns of a measure. */
const measured = {
  id: events.id,
  type: events.type,
  name: events.name,
  source: events.source,
  state: events.state,
  agentId: events.agentId,
  startTimeMs: events.startTimeMs,
  durationMs: events.durationMs,
  inputTokens: events.inputTokens,
  outputTokens: events.outputTokens,
  totalTokens: events.totalTokens,
  cacheReadTokens: events.cacheReadTokens,
  cacheWriteTokens: events.cacheWriteTokens,
  reasoningTokens: eventStats.reasoningTokens,
};

/** The members of these objects under the names of columns. */
function toJson(columns: Record<string, PgColumn | string>, rows: readonly object[]): string {
  const names = Object.entries(columns).map(
    ([key, column]) => [key, typeof column === 'string' ? column : column.name] as const,
  );
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(names.map(([key, name]) => [name, Reflect.get(row, key)]))),
  );
}

const statement = compileStatement(buildStatement());

function buildStatement(): SQL {
  const space = sql`${sql.placeholder('space')}::uuid`;
  const rows: CountedRows = { from: 'measured', isSigned: true };
  const [byName, byAgent] = [countByName('name_counts', rows), countByAgent('agent_counts', rows)];
  const { id, segmentId, traceId } = events;
  const context = [events.agentId, events.threadId, events.userId];
  const filled = listOf(
    context.map(
      (column) => sql`${nameOf(column)} = coalesce(kept.${nameOf(column)}, change.${nameOf(column)})`,
    ),
  );
  return sql`
-- In the order of retention and erasure, which lock segments first.
WITH locked AS MATERIALIZED (
  SELECT ${segments.id} FROM ${segments}
  WHERE ${segments.spaceId} = ${space} AND ${segments.id} IN (SELECT ${nameOf(segments.id)} FROM ${recordsOf('segments', [segments.id])})
  ORDER BY ${segments.id} FOR UPDATE
), resolved AS (
  UPDATE ${traces} AS kept SET ${nameOf(traces.resolvedVersion)} = kept.${nameOf(traces.version)}
  FROM ${recordsOf('traces', [traceId, traces.version])}
  WHERE kept.${nameOf(traces.spaceId)} = ${space} AND kept.${nameOf(traces.traceId)} = change.${nameOf(traceId)}
    AND kept.${nameOf(traces.version)} = change.${nameOf(traces.version)} AND (SELECT count(*) FROM locked) >= 0
  RETURNING kept.${nameOf(traces.traceId)}
), changed_nodes AS (
  UPDATE ${traceNodes} AS kept SET ${filled}
  FROM ${recordsOf('nodes', [traceId, traceNodes.spanId, ...context])}
  WHERE kept.${nameOf(traceNodes.spaceId)} = ${space} AND kept.${nameOf(traceNodes.traceId)} = change.${nameOf(traceId)}
    AND kept.${nameOf(traceNodes.spanId)} = change.${nameOf(traceNodes.spanId)}
    AND change.${nameOf(traceId)} IN (SELECT ${nameOf(traceId)} FROM resolved)
  RETURNING kept.${nameOf(traceNodes.spanId)}
), changed_events AS (
  UPDATE ${events} AS kept SET ${filled}
  FROM ${recordsOf('events', [traceId, id, segmentId, ...context])}
  WHERE kept.${nameOf(events.spaceId)} = ${space} AND kept.${nameOf(id)} = change.${nameOf(id)}
    AND kept.${nameOf(segmentId)} = change.${nameOf(segmentId)}
    AND change.${nameOf(traceId)} IN (SELECT ${nameOf(traceId)} FROM resolved)
    AND (kept.${nameOf(events.agentId)} IS NULL OR change.${nameOf(events.agentId)} IS NULL)
  RETURNING kept.${nameOf(id)}, kept.${nameOf(segmentId)}
), changed_segments AS (
  UPDATE ${segments} AS kept
  SET ${nameOf(segments.terms)} = kept.${nameOf(segments.terms)}
    || ARRAY(SELECT unnest(change.${nameOf(segments.terms)}) EXCEPT SELECT unnest(kept.${nameOf(segments.terms)}))
  FROM ${recordsOf('segments', [segments.id, segments.terms])}
  WHERE kept.${nameOf(segments.spaceId)} = ${space} AND kept.${nameOf(segments.id)} = change.${nameOf(segments.id)}
    AND kept.${nameOf(segments.id)} IN (SELECT ${nameOf(segmentId)} FROM changed_events)
  RETURNING kept.${nameOf(segments.id)}
), measured AS (
  SELECT ${space} AS ${nameOf(events.spaceId)}, change.*
  FROM ${recordsOf('measures', Object.values(measured), sql`, sign integer, ${isByName} boolean`)}
  WHERE change.${nameOf(id)} IN (SELECT ${nameOf(id)} FROM changed_events)
), name_counts AS MATERIALIZED (${byName.counts}
), by_name AS (${byName.byMinute}
), by_name_hours AS (${byName.byHours}
), agent_counts AS MATERIALIZED (${byAgent.counts}
), by_agent AS (${byAgent.byMinute}
), by_agent_hours AS (${byAgent.byHours}
)
SELECT ${nameOf(traceId)} AS trace FROM resolved`;
}

/** The rows of a parameter, as `change`. */
function recordsOf(parameter: string, columns: readonly PgColumn[], more: SQL = sql``): SQL {
  const types = listOf(columns.map((column) => sql`${nameOf(column)} ${sql.raw(column.getSQLType())}`));
  return sql`json_to_recordset(${sql.placeholder(parameter)}::json) AS change(${types}${more})`;
}
