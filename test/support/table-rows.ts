import { getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import * as schema from '../../store/db/schema.ts';
import type { TestDashboard } from './dashboard.ts';

/** Read otherwise: a thousand rows that come with a version, which as texts would take most of the time. */
const shipped: PgTable = schema.listPrices;
const tables = Object.values(schema)
  .filter((one) => is(one, PgTable))
  .filter((one) => one !== shipped);

const changing = new Map<PgTable, string>([
  [schema.sessions, '{last_used_at,space_id}'],
  [schema.alertRules, '{phase,since,value,evaluated_until,due_at,claimed_until}'],
  [schema.alertDeliveries, '{attempts,attempt_at,delivered_at,failed_at,failure}'],
]);

/**
 * All rows of all tables except those in `without`, as sorted text. Columns are omitted that mere use
 * changes, or that change in the background: of sessions and of alerts. The list prices are one text, which
 * differs after any statement on them.
 *
 * One statement, because hundreds of tests read the rows before and after a call.
 */
export async function readRows(
  { sql }: Pick<TestDashboard, 'sql'>,
  without: readonly PgTable[] = [],
): Promise<string[]> {
  const rows = tables
    .filter((table) => !without.includes(table))
    .map((table) => {
      const [name, omitted] = [getTableName(table), changing.get(table) ?? '{}'];
      return sql`SELECT ${name}::text || ' ' || (to_jsonb(one) - ${omitted}::text[])::text AS row FROM ${sql(name)} AS one`;
    })
    .reduce(
      (all, next) => sql`${all} UNION ALL ${next}`,
      sql`SELECT ${getTableName(shipped)} || ' ' || md5(string_agg(ctid::text || xmin::text, ' ' ORDER BY ctid)) AS row
        FROM ${sql(getTableName(shipped))}`,
    );
  // JSON contains no line break.
  const [found] = await sql<{ text: string | null }[]>`
    SELECT string_agg(row, E'\\n' ORDER BY row COLLATE "C") AS text FROM (${rows}) AS rows`;
  return found?.text?.split('\n') ?? [];
}
