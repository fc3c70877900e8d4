import { sql } from 'drizzle-orm';
import type { Database } from '../../../store/db/database.ts';
import { eventStats } from '../../../store/db/schema.ts';
import { nameOf } from '../../../store/db/statement.ts';
import { visitInSlices } from '../slices.ts';
import { type Cell, type CellQuery, sketches, sumAll, summed, toCell } from './read-cells.ts';
import { selectSpans } from './stat-spans.ts';

export interface TopCells {
  /** The values with the most events. */
  readonly names: string[];
  /** Undefined when some events have no value of the dimension, and so belong to no group. */
  readonly cells: Cell[] | undefined;
}

/**
 * The cells of a dimension's values with the most events, and of all others: all events minus these values.
 * So sketches are read only of the values shown; those of a thousand users in a month are 40 MB. One
 * statement, because the sums must be of one moment.
 * @param query of a chart whose group is its dimension.
 */
export async function readTopCells(
  database: Database,
  spaceId: string,
  query: Omit<CellQuery, 'withDurations'>,
): Promise<TopCells> {
  const { boundaries, filter, groupsMax } = query;
  const columns = Object.values(summed);
  const read = [...columns, eventStats.latency];
  const whole = { ...query, boundaries: [boundaries[0] ?? 0, boundaries.at(-1) ?? 0] };
  const ofTop = { ...query, values: sql`ARRAY(SELECT '=' || grouped FROM top)` };
  const ofAll = { boundaries, filter, group: 'none' as const };
  const rows = await database.execute<Record<string, unknown>>(sql`
WITH ranked AS MATERIALIZED (
  SELECT grouped, ${sumAll(columns)} FROM (${selectSpans(spaceId, whole, columns)}) AS spans GROUP BY grouped
), top AS MATERIALIZED (
  SELECT grouped FROM ranked WHERE grouped IS NOT NULL ORDER BY ${nameOf(eventStats.events)} DESC, grouped LIMIT ${groupsMax}
)
SELECT bucket, grouped AS named, ${sumAll(columns)}, ${sketches} AS latency
FROM (${selectSpans(spaceId, ofTop, read)}) AS spans GROUP BY bucket, grouped
UNION ALL
SELECT bucket, NULL, ${sumAll(columns)}, ${sketches}
FROM (${selectSpans(spaceId, ofAll, read)}) AS spans GROUP BY bucket
UNION ALL
SELECT NULL, NULL, ${sumAll(columns)}, NULL FROM ranked`);
  const counted = rows.find(({ bucket }) => bucket === null);
  const top: Cell[] = [];
  const others = new Map<number, Cell>();
  await visitInSlices(rows, (row) => {
    const cell = toCell(row);
    if (cell.group !== null) top.push(cell);
    else if (row !== counted) others.set(cell.bucket, { ...cell, subtracted: [] });
  });
  const names = [...new Set(top.map(({ group }) => group ?? ''))];
  const areAllCounted = sumNames.every(
    (name) => counted?.[summed[name].name] === others.values().reduce((sum, cell) => sum + cell[name], 0),
  );
  if (!areAllCounted) return { names, cells: undefined };
  for (const cell of top) {
    const rest = others.get(cell.bucket);
    if (rest === undefined) continue;
    for (const name of sumNames) rest[name] -= cell[name];
    rest.subtracted?.push(cell.latency);
  }
  const shown = [...top, ...others.values().filter(({ events }) => events > 0)];
  return { names, cells: shown.toSorted((a, b) => a.bucket - b.bucket) };
}

// The names are those of the type.
const sumNames = Object.keys(summed) as (keyof typeof summed)[];
