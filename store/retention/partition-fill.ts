import { getTableName, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { segments } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';
import { vacuumedDeadShare, vacuumIntervalMs } from './limits.ts';

/** How full the pages of a table are, from the statistics of the last VACUUM (ANALYZE). */
export interface TableFill {
  readonly rows: number;
  /** Bytes of its rows, without values stored out of line. */
  readonly liveBytes: number;
  /** Bytes of its pages, including free space. */
  readonly tableBytes: number;
}

/** Bytes of a row besides its values: header, null bitmap, line pointer, alignment. */
const rowOverheadBytes = 36;

/** On Citus the coordinator has no statistics of distributed tables: they look empty and without pages. */
export async function readFill(database: Database, name: string): Promise<TableFill> {
  const [row] = await database.execute<{
    rows: number;
    widthBytes: number;
    pages: number;
    pageBytes: number;
  }>(sql`
    SELECT greatest(reltuples, 0)::float8 AS rows, relpages::float8 AS pages,
      current_setting('block_size')::float8 AS "pageBytes",
      (SELECT coalesce(sum(avg_width * (1 - null_frac)), 0)::float8 FROM pg_stats
       WHERE schemaname = current_schema() AND tablename = relname AND attname <> ${segments.terms.name}) AS "widthBytes"
    FROM pg_class WHERE oid = to_regclass(${name})`);
  const { rows = 0, widthBytes = 0, pages = 0, pageBytes = 0 } = row ?? {};
  const rowBytes = widthBytes + (await readTermsBytes(database, name)) + rowOverheadBytes;
  return { rows, liveBytes: rows * rowBytes, tableBytes: pages * pageBytes };
}

/** Sampled from a hundredth of the pages: ANALYZE does not measure this column (planner-statistics.ts). */
async function readTermsBytes(database: Database, name: string): Promise<number> {
  if (!name.startsWith(getTableName(segments))) return 0;
  const [row] = await database.execute<{ bytes: number }>(sql`
    SELECT coalesce(avg(pg_column_size(${nameOf(segments.terms)})), 0)::float8 AS bytes
    FROM ${sql.identifier(name)} TABLESAMPLE SYSTEM (1)`);
  return row?.bytes ?? 0;
}

/** Vacuums many dead rows, so that pages are returned sooner than by autovacuum. Blocks nobody. */
export async function vacuumIfDead(database: Database, name: string): Promise<void> {
  // Otherwise the deletions of this session are counted with a delay.
  await database.execute(sql`SELECT pg_stat_force_next_flush()`);
  const isRecent = (column: SQL) =>
    sql`coalesce(${column} > now() - interval '${sql.raw(String(vacuumIntervalMs))} ms', false)`;
  const [found] = await database.execute<{ isDue: boolean }>(sql`
    SELECT n_dead_tup > ${vacuumedDeadShare}::float8 * (n_live_tup + n_dead_tup)
      AND NOT ${isRecent(sql`last_vacuum`)} AS "isDue"
    FROM pg_stat_user_tables WHERE relid = to_regclass(${name})`);
  if (found?.isDue === true) await database.execute(sql`VACUUM (ANALYZE) ${sql.identifier(name)}`);
}
