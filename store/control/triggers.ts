import { getTableName, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { hasCitus } from '../db/layout/distribution.ts';
import { keyOf, type LoggedTable, loggedTables } from './logged-tables.ts';

export const triggerName = 'control_change_logged';

/**
 * Brings the triggers of the logged tables to this version's list; empty when they are. Each statement locks
 * its table against writes for milliseconds. Citus' distributed tables cannot have triggers.
 */
export async function planTriggers(database: Database): Promise<string[]> {
  const rows = await database.execute<{ table: string; arguments: string }>(sql`
    SELECT relname AS table, encode(tgargs, 'escape') AS arguments
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE tgname = ${triggerName} AND relnamespace = current_schema()::regnamespace`);
  const present = new Map(rows.map((row) => [row.table, row.arguments]));
  const distributed = await findDistributed(database);
  return loggedTables.flatMap((logged) => {
    const name = getTableName(logged.table);
    const wanted = argumentsOf(logged);
    const isSame = present.get(name) === wanted.map((one) => `${one}\\000`).join('');
    if (isSame || distributed.has(name)) return [];
    return [
      `CREATE OR REPLACE TRIGGER ${triggerName} AFTER ${logged.operations.join(' OR ')} ON ${name}
        FOR EACH ROW EXECUTE FUNCTION log_control_change(${wanted.map((one) => `'${one}'`).join(', ')})`,
    ];
  });
}

/** The last one is for {@link planTriggers} only, which compares it. */
function argumentsOf({ table, ignored, withheld, operations }: LoggedTable): string[] {
  const namesOf = (columns: readonly { name: string }[]) => columns.map(({ name }) => name).join();
  return [namesOf(keyOf(table)), namesOf(ignored), namesOf(withheld), operations.join()];
}

async function findDistributed(database: Database): Promise<Set<string>> {
  if (!(await hasCitus(database))) return new Set();
  const rows = await database.execute<{ name: string }>(sql`
    SELECT relname AS name FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid WHERE partmethod = 'h'`);
  return new Set(rows.map(({ name }) => name));
}
