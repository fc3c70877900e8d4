import { sql } from 'drizzle-orm';
import type { Database } from '../../../store/db/database.ts';
import { eventStats } from '../../../store/db/schema.ts';
import { listOf, nameOf } from '../../../store/db/statement.ts';
import { noValue } from '../../../store/write/statistics/fold-dimensions.ts';
import { visitInSlices } from '../slices.ts';
import { type Cell, type CellQuery, sketches, sumAll, summed, sumNames, toCell } from './read-cells.ts';
import { selectSpans } from './stat-spans.ts';

export interface TopCells {
  /** The values with the most events. */
  readonly names: string[];
  /**
   * Undefined when other statistics count events that the dimension never counted: those that had expired or
   * were erased before it was declared.
   */
  readonly cells: Cell[] | undefined;
}

/**
 * The cells of a dimension's values with the most events, and of all others: all events minus these and those
 * without a value. So sketches are read only of the values shown; those of a thousand users in a month
 * are 40 MB. One statement, because the sums must be of one moment; it reads no sketches when they differ.
 * @param query of a chart whose group is its dimension.
 */
export async function readTopCells(
  database: Database,
  spaceId: string,
  query: CellQuery & { readonly groupsMax: number },
): Promise<TopCells> {
  const { boundaries, filter, groupsMax } = query;
  const columns = Object.values(summed);
  const read = [...columns, eventStats.latency];
  const whole = { ...query, withoutValue: true, boundaries: [boundaries[0] ?? 0, boundaries.at(-1) ?? 0] };
  const ofTop = { ...query, values: sql`ARRAY(SELECT '=' || grouped FROM top UNION ALL SELECT ${noValue})` };
  const ofAll = { boundaries, filter, group: 'none' as const };
  const wholeOfAll = { ...ofAll, boundaries: whole.boundaries };
  const rows = await database.execute<Record<string, unknown>>(sql`
WITH ranked AS MATERIALIZED (
  SELECT grouped, ${sumAll(columns)} FROM (${selectSpans(spaceId, whole, columns)}) AS spans GROUP BY grouped
), top AS MATERIALIZED (
  SELECT * FROM ranked WHERE grouped IS NOT NULL ORDER BY ${nameOf(eventStats.events)} DESC, grouped LIMIT ${groupsMax}
), counted AS MATERIALIZED (
  SELECT (SELECT of_values FROM (SELECT ${sumAll(columns)} FROM ranked) AS of_values) =
    (SELECT of_all FROM (SELECT ${sumAll(columns)} FROM (${selectSpans(spaceId, wholeOfAll, columns)}) AS spans) AS of_all) AS are_all
)
SELECT bucket, grouped AS named, true AS is_subtracted, ${sumAll(columns)}, ${sketches} AS latency
FROM (${selectSpans(spaceId, ofTop, read)}) AS spans WHERE (SELECT are_all FROM counted) GROUP BY bucket, grouped
UNION ALL
SELECT bucket, NULL, false, ${sumAll(columns)}, ${sketches}
FROM (${selectSpans(spaceId, ofAll, read)}) AS spans WHERE (SELECT are_all FROM counted) GROUP BY bucket
UNION ALL
SELECT NULL, grouped, false, ${listOf(columns.map(nameOf))}, NULL FROM top`);
  const names: string[] = [];
  const subtracted: Cell[] = [];
  const others = new Map<number, Cell>();
  await visitInSlices(rows, (row) => {
    const cell = toCell(row);
    if (row.bucket === null) names.push(cell.group ?? '');
    else if (row.is_subtracted === true) subtracted.push(cell);
    else others.set(cell.bucket, { ...cell, subtracted: [] });
  });
  if (others.size === 0) return { names, cells: undefined };
  for (const cell of subtracted) {
    const rest = others.get(cell.bucket);
    if (rest === undefined) continue;
    for (const name of sumNames) rest[name] -= cell[name];
    rest.subtracted?.push(cell.latency);
  }
  const top = subtracted.filter(({ group }) => group !== null);
  const shown = [...top, ...others.values().filter(({ events }) => events > 0)];
  return { names, cells: shown.toSorted((a, b) => a.bucket - b.bucket) };
}
