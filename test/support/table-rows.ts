import { getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import * as schema from '../../lib/db/schema.ts';
import type { TestDashboard } from './dashboard.ts';

const tables = Object.values(schema).filter((one) => is(one, PgTable));

const changing = new Map<PgTable, string>([
  [schema.sessions, '{last_used_at,space_id}'],
  [schema.alertRules, '{phase,since,value,evaluated_until,due_at,claimed_until}'],
  [schema.alertDeliveries, '{attempts,attempt_at,delivered_at,failed_at,failure}'],
]);

/**
 * All rows of all tables except those in `without`, as text. Columns are omitted that mere use changes, or that change
 * in the background: of sessions and of alerts. */
export async function readRows(
  { sql }: Pick<TestDashboard, 'sql'>,
  without: readonly PgTable[] = [],
): Promise<string[]> {
  const rows = await Promise.all(
    tables
      .filter((table) => !without.includes(table))
      .map(async (table) => {
        const omitted = changing.get(table) ?? '{}';
        const found = await sql<{ row: string }[]>`
          SELECT (to_jsonb(one) - ${omitted}::text[])::text AS row FROM ${sql(getTableName(table))} AS one`;
        return found.map(({ row }) => `${getTableName(table)} ${row}`);
      }),
  );
  return rows.flat().sort();
}
