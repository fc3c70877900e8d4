import { openPostgres } from '../../../lib/db/connect.ts';
import { openDatabase } from '../../../lib/db/database.ts';
import type { Connection } from '../../../lib/local-system.ts';
import { growSpace } from './growth.ts';
import { type ListFigure, measureLists } from './lists.ts';

/** Fills the system's space with so many events, and measures filtered lists. @returns a table. */
export async function measureFilters(
  { databaseUrl, spaceId }: Pick<Connection, 'databaseUrl' | 'spaceId'>,
  { rows, say }: { rows: number; say: (text: string) => void },
): Promise<string> {
  await using sql = openPostgres(databaseUrl, {
    applicationName: 'weir-bench',
    connectionsMax: 4,
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  const growth = { rows, nowMs: Date.now(), say };
  await growSpace(database, spaceId, growth);
  return renderLists(await measureLists(database, spaceId, growth));
}

function renderLists(figures: readonly ListFigure[]): string {
  const lines = figures.map(({ name, p50Ms, p99Ms, rows, incomplete }) =>
    [
      name.padEnd(34),
      `p50 ${p50Ms.toFixed(1)} ms`.padEnd(16),
      `p99 ${p99Ms.toFixed(1)} ms`.padEnd(16),
      `${rows} rows${incomplete > 0 ? ', incomplete' : ''}`,
    ].join(''),
  );
  return ['first page of 50, goal p99 ≤ 50 ms', ...lines].join('\n');
}
