import { getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import * as schema from '../../lib/db/schema.ts';
import type { TestDashboard } from './dashboard.ts';

const tables = Object.values(schema).filter((one) => is(one, PgTable));

/** All rows of all tables except those in `without`, as text. Columns of sessions that mere use changes are omitted. */
export async function readRows(
  { sql }: Pick<TestDashboard, 'sql'>,
  without: readonly PgTable[] = [],
): Promise<string[]> {
  const rows = await Promise.all(
    tables
      .filter((table) => !without.includes(table))
      .map(async (table) => {
        const ofSession = table === schema.sessions ? '{last_used_at,space_id}' : '{}';
        const found = await sql<{ row: string }[]>`
          SELECT (to_jsonb(one) - ${ofSession}::text[])::text AS row FROM ${sql(getTableName(table))} AS one`;
        return found.map(({ row }) => `${getTableName(table)} ${row}`);
      }),
  );
  return rows.flat().sort();
}
