import { sql } from 'drizzle-orm';
import type { Connection } from '../../../launcher/local-system.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { type Database, openDatabase } from '../../../store/db/database.ts';
import { ensurePartitions, listPartitions, partitionedTables } from '../../../store/db/partitions.ts';
import { growEvents, growSpace } from './growth.ts';
import { type ListFigure, measureLists } from './lists.ts';

type Options = { rows: number; say: (text: string) => void };

/** Fills the system's space with events of 30 days, and measures filtered lists. @returns a table. */
export async function measureFilters(weir: FilledWeir, { rows, say }: Options): Promise<string> {
  await using pool = openBench(weir);
  const database = openDatabase(pool);
  const growth = { rows, nowMs: Date.now(), say };
  await growSpace(database, weir.spaceId, growth);
  return renderLists(await measureLists(database, weir.spaceId, growth));
}

/**
 * Fills a new week and measures filtered lists at several sizes. ANALYZE is disabled for it: a new week has
 * no statistics, and those of a busy one may be outdated within seconds.
 * @returns a table for each size.
 */
export async function measureYoungWeek(weir: FilledWeir, { rows, say }: Options): Promise<string> {
  await using pool = openBench(weir);
  const database = openDatabase(pool);
  await ensurePartitions(database, Date.now());
  await leaveUnanalyzed(database);
  const startedMs = Date.now();
  const tables: string[] = [];
  let from = 0;
  for (const size of youngSizes(rows)) {
    const growth = { from, to: size, retiredUntil: rows / youngSizeGrowth ** 3, say };
    // One event per millisecond; the last one starts now.
    await growEvents(database, weir.spaceId, { ...growth, startMsOf: (index) => startedMs + index - rows });
    from = size;
    const nowMs = startedMs + size - rows;
    tables.push(
      `${size} events\n${renderLists(await measureLists(database, weir.spaceId, { rows: size, nowMs }))}`,
    );
  }
  return tables.join('\n\n');
}

/** Each size is this multiple of the previous one. */
const youngSizeGrowth = 4;

/** The sizes, from about a thousand events to all of them. */
function youngSizes(rows: number): number[] {
  const sizes = [rows];
  for (let size = rows; size >= 1_000 * youngSizeGrowth; ) {
    size = Math.floor(size / youngSizeGrowth);
    sizes.unshift(size);
  }
  return sizes;
}

async function leaveUnanalyzed(database: Database): Promise<void> {
  for (const { table } of partitionedTables) {
    for (const { name } of await listPartitions(database, table)) {
      await database.execute(sql`ALTER TABLE ${sql.identifier(name)} SET (autovacuum_enabled = false)`);
    }
  }
}

type FilledWeir = Pick<Connection, 'databaseUrl' | 'spaceId'>;

function openBench({ databaseUrl }: FilledWeir) {
  return openPostgres(databaseUrl, {
    applicationName: 'weir-bench',
    connectionsMax: 4,
    statementTimeoutMs: 0,
  });
}

function renderLists(figures: readonly ListFigure[]): string {
  const lines = figures.map(({ name, p50Ms, p95Ms, p99Ms, rows, incomplete }) =>
    [
      name.padEnd(34),
      `p50 ${p50Ms.toFixed(1)} ms`.padEnd(16),
      `p95 ${p95Ms.toFixed(1)} ms`.padEnd(16),
      `p99 ${p99Ms.toFixed(1)} ms`.padEnd(16),
      `${rows} rows${incomplete > 0 ? ', incomplete' : ''}`,
    ].join(''),
  );
  return ['first page of 50, goal p95 ≤ 50 ms', ...lines].join('\n');
}
