import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Database } from '../db/database.ts';
import { traceNodes, traces } from '../db/schema.ts';
import { compileStatement, nameOf, runCompiled } from '../db/statement.ts';
import { partnerSpansMax, partnersMax } from './limits.ts';
import { comparisonsMax } from './merge/same-calls.ts';

/**
 * Finds traces with spans of one call: spans of different libraries that have the same response at the same
 * time. The spans must be committed: so the last one of several concurrent writers finds those of all.
 */
export async function findSharedResponses(database: Database, spaceId: string, traceIds: readonly string[]) {
  const found = {
    /** The traces that were searched from. */
    traceIds: new Set<string>(),
    /** Other traces with the response, and a searched one that has it twice. */
    partnerIds: new Set<string>(),
  };
  if (traceIds.length === 0) return found;
  const values: Record<string, string> = { space: spaceId, traces: `{${traceIds.join()}}` };
  const rows = await runCompiled<{ trace: string; partner: string; spans: number }>(
    database.$client,
    statement,
    values,
  );
  let spans = 0;
  for (const row of rows) {
    if (!found.partnerIds.has(row.partner)) spans += row.spans;
    if (spans > partnerSpansMax) break;
    found.traceIds.add(row.trace);
    found.partnerIds.add(row.partner);
  }
  return found;
}

const statement = compileStatement(buildStatement());

/**
 * Spans that are merged already are left out, except for the partner that has the event. Some programs always
 * get the same response id: each span is compared with a bounded number of others.
 */
function buildStatement(): SQL {
  const { spaceId, traceId, scope, responseKey, startTimeMs, endTimeMs, eventId, mergedEventId } = traceNodes;
  const space = sql`${sql.placeholder('space')}::uuid`;
  const [own, other, near] = ['own', 'other', 'near'].map(
    (name) => (column: PgColumn) => sql`${sql.identifier(name)}.${nameOf(column)}`,
  ) as [Named, Named, Named];
  const eventOf = (named: Named) => sql`coalesce(${named(eventId)}, ${named(mergedEventId)})`;
  return sql`
SELECT ${own(traceId)} AS trace, ${other(traceId)} AS partner, min(partner.${nameOf(traces.spans)})::integer AS spans
FROM ${traceNodes} AS own CROSS JOIN LATERAL (
  SELECT near.* FROM ${traceNodes} AS near
  WHERE ${near(spaceId)} = ${space} AND ${near(responseKey)} = ${own(responseKey)} AND ${near(startTimeMs)} <= ${own(endTimeMs)}
  ORDER BY ${near(startTimeMs)} DESC LIMIT ${sql.raw(String(comparisonsMax))}
) AS other JOIN ${traces} AS partner
  ON partner.${nameOf(traces.spaceId)} = ${space} AND partner.${nameOf(traces.traceId)} = ${other(traceId)}
WHERE ${own(spaceId)} = ${space} AND ${own(traceId)} = ANY (${sql.placeholder('traces')}::uuid[])
  AND ${own(responseKey)} IS NOT NULL AND ${other(scope)} <> ${own(scope)} AND ${other(endTimeMs)} >= ${own(startTimeMs)}
  AND (${eventOf(own)} <> ${eventOf(other)} OR (${own(eventId)} IS NULL AND ${own(mergedEventId)} = ${other(eventId)}))
GROUP BY 1, 2 ORDER BY bool_or(${eventOf(own)} <> ${eventOf(other)}) DESC LIMIT ${sql.raw(String(partnersMax))}`;
}

type Named = (column: PgColumn) => SQL;
