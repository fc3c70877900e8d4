import { type SQL, sql } from 'drizzle-orm';
import type { Part, TraceNodes } from '../../platform/queue/group.ts';
import type { Database } from '../db/database.ts';
import { isNotDeleted } from '../db/deleted-spaces.ts';
import { eventIds, traceNodes, traces } from '../db/schema.ts';
import { compileStatement, listOf, nameOf, namesOf, runCompiled } from '../db/statement.ts';
import { findSharedResponses } from './shared-responses.ts';
import { nodeColumns, surplusName } from './trace-node.ts';
import { markUnresolved } from './unresolved-traces.ts';

interface NewNodes {
  /** Spans of one space, from one or more messages. */
  readonly sent: readonly Pick<TraceNodes, 'receivedAtMs' | 'json'>[];
  /** Parts of the same messages, of which all events were stored for the first time. */
  readonly newParts?: readonly Pick<Part, 'columns'>[] | undefined;
}

/**
 * Stores the spans that are new, unless the space is deleted. Their traces become unresolved in the same
 * statement, except for a trace whose first spans come in one request with all of their parents, and with no
 * call in several spans, which is the usual case: its events have what their request says of them, unless an
 * earlier request has sent them.
 *
 * Spans of other traces may have the same response. That is looked up after the COMMIT, so that the last one
 * of several concurrent writers finds the spans of all, and for spans that are not new, too: after a crash a
 * redelivery does it again.
 * @returns whether one of their traces is unresolved.
 */
export async function storeNodes(
  database: Database,
  spaceId: string,
  { sent, newParts = [] }: NewNodes,
): Promise<boolean> {
  const receivedAtMs = Math.max(...sent.map((one) => Number(one.receivedAtMs)));
  const values: Record<string, string> = {
    space: spaceId,
    received: new Date(receivedAtMs).toISOString(),
    nodes: `[${sent.map(({ json }) => json).join()}]`,
    fresh: `{${newParts.map(({ columns }) => columns?.id).join()}}`,
  };
  const rows = await runCompiled<{ trace: string; unresolved: boolean }>(database.$client, statement, values);
  const unresolved = new Set(rows.flatMap((row) => (row.unresolved ? row.trace : [])));
  const withResponse = rows.map(({ trace }) => trace).filter((trace) => !unresolved.has(trace));
  const shared = await findSharedResponses(database, spaceId, withResponse);
  if (shared.traceIds.size > 0) await markUnresolved(database, spaceId, [...shared.traceIds]);
  return unresolved.size + shared.traceIds.size > 0;
}

const statement = compileStatement(buildStatement());

function buildStatement(): SQL {
  const columns = Object.values(nodeColumns);
  const { traceId, spanId, parentSpanId, kind, scope, eventId, responseKey } = nodeColumns;
  const [space, received] = [
    sql`${sql.placeholder('space')}::uuid`,
    sql`${sql.placeholder('received')}::timestamptz`,
  ];
  const types = listOf(columns.map((column) => sql`${nameOf(column)} ${sql.raw(column.getSQLType())}`));
  const key = namesOf([traceId, spanId]);
  const surplus = sql.identifier(surplusName);
  const { version, unresolvedSince, spans, hasCalls, receivedAt } = traces;
  return sql`
WITH sent AS MATERIALIZED (
  SELECT DISTINCT ON (${key}) node.*, request FROM json_array_elements(${sql.placeholder('nodes')}::json) WITH ORDINALITY AS list(spans, request),
    json_to_recordset(list.spans) AS node(${types}, ${surplus} boolean)
  WHERE ${isNotDeleted(space)} ORDER BY ${key}, request
), sent_before AS MATERIALIZED (
  SELECT ${nameOf(traceId)} FROM sent
  WHERE ${nameOf(eventId)} <> ALL (${sql.placeholder('fresh')}::uuid[])
    -- As a count, each id is looked up in the index.
    AND (SELECT count(*) FROM ${eventIds} WHERE ${eventIds.spaceId} = ${space} AND ${eventIds.id} = sent.${nameOf(eventId)}) > 0
), whole AS (
  SELECT child.${nameOf(traceId)}, count(DISTINCT child.request) = 1
    AND bool_and(child.${nameOf(parentSpanId)} IS NULL OR parent.${nameOf(spanId)} IS NOT NULL)
    AND bool_and(child.${surplus} IS NOT TRUE) AND count(DISTINCT child.${nameOf(scope)}) FILTER (WHERE child.${nameOf(kind)} = 'llm') < 2
    AND child.${nameOf(traceId)} NOT IN (SELECT ${nameOf(traceId)} FROM sent_before) AS whole
  FROM sent AS child LEFT JOIN sent AS parent
    ON parent.${nameOf(traceId)} = child.${nameOf(traceId)} AND parent.${nameOf(spanId)} = child.${nameOf(parentSpanId)}
  GROUP BY 1
), added AS (
  INSERT INTO ${traceNodes} (${namesOf([traceNodes.spaceId, ...columns, traceNodes.receivedAt])})
  SELECT ${space}, ${namesOf(columns)}, ${received} FROM sent ORDER BY ${key}
  ON CONFLICT DO NOTHING
  RETURNING ${namesOf([traceId, kind])}
), bumped AS (
  INSERT INTO ${traces} AS kept (${namesOf([traces.spaceId, traces.traceId, version, unresolvedSince, spans, hasCalls, receivedAt])})
  SELECT ${space}, ${nameOf(traceId)}, 1, CASE WHEN NOT bool_and(whole) THEN ${received} END, count(*), bool_or(${nameOf(kind)} <> 'link'), ${received}
  FROM added JOIN whole USING (${nameOf(traceId)}) GROUP BY ${nameOf(traceId)} ORDER BY ${nameOf(traceId)}
  ON CONFLICT (${namesOf([traces.spaceId, traces.traceId])}) DO UPDATE SET
    ${nameOf(version)} = kept.${nameOf(version)} + 1, ${nameOf(unresolvedSince)} = coalesce(kept.${nameOf(unresolvedSince)}, excluded.${nameOf(receivedAt)}),
    ${nameOf(spans)} = kept.${nameOf(spans)} + excluded.${nameOf(spans)},
    ${nameOf(hasCalls)} = kept.${nameOf(hasCalls)} OR excluded.${nameOf(hasCalls)},
    ${nameOf(receivedAt)} = greatest(kept.${nameOf(receivedAt)}, excluded.${nameOf(receivedAt)})
  RETURNING ${namesOf([traces.traceId, unresolvedSince])}
)
SELECT ${nameOf(traceId)} AS trace, true AS unresolved FROM bumped WHERE ${nameOf(unresolvedSince)} IS NOT NULL
UNION
SELECT ${nameOf(traceId)}, false FROM sent WHERE ${nameOf(responseKey)} IS NOT NULL`;
}
