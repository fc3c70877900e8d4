import { sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { quoteElement } from '../../../event/text.ts';
import { pick } from '../../../platform/pick.ts';
import type { Database } from '../../../store/db/database.ts';
import { eventStats, sliceStats } from '../../../store/db/schema.ts';
import { listOf, nameOf } from '../../../store/db/statement.ts';
import type { Slice } from '../../../store/prices/cost-sum.ts';
import { mapInSlices, visitInSlices } from '../slices.ts';
import { type SpanQuery, selectSpans } from './stat-spans.ts';

export interface CellQuery extends SpanQuery {
  /** Number of groups with the most events; all others form one group. Needed unless the group is `none`. */
  readonly groupsMax?: number;
  /** The groups, if they are known. */
  readonly names?: readonly string[] | undefined;
  /** Whether to read the duration sketches, which are most of the work. */
  readonly withDurations?: boolean;
  /** Whether to read the slices, by which costs are computed. */
  readonly withSlices?: boolean;
  /** Whether to read calls of models only, and the cells of each model apart. */
  readonly byModel?: boolean;
}

/** The sums of one bucket and one group. */
export interface Cell extends Sums {
  bucket: number;
  /** The group's name; null for the remaining groups. */
  group: string | null;
  /** Undefined unless models are read apart. */
  model?: string;
  /** The unmerged sketches of durations, for `LatencySketch.addBinary`. Empty when they are not read. */
  latency: Uint8Array;
  /** Sketches that `latency` includes, of events of other groups. */
  subtracted?: Uint8Array[];
  /** The sums whose price depends on conditions. Undefined when they are not read. */
  slices?: Slice[] | undefined;
}

/** Token sums are exact up to 2^53 if clients send integers. */
export type Sums = Record<keyof typeof summed, number>;

/**
 * Charts of more buckets may have too many rows for one statement, which reads this many: Postgres sorts them
 * in memory.
 */
const wholeBucketsMax = 100;
export const rowsAtOnceMax = 25_000;

export const summed = {
  ...pick(eventStats, 'events', 'errors', 'inputTokens', 'outputTokens'),
  ...pick(eventStats, 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'),
};

// The names are those of the type.
export const sumNames = Object.keys(summed) as (keyof Sums)[];

/**
 * Reads the sums of a chart from statistics, ordered by bucket: the work depends on the number of buckets and
 * groups, not of events.
 */
export async function readCells(database: Database, spaceId: string, query: CellQuery): Promise<Cell[]> {
  return (await Array.fromAsync(readCellsInParts(database, spaceId, query))).flat();
}

/**
 * Reads the cells in one pass, some buckets at a time: every minute of a day with 800 models has 1.2 million
 * rows, which one statement neither sorts in memory nor returns within its time. While the caller works, the
 * next two parts are read.
 */
export async function* readCellsInParts(
  database: Database,
  spaceId: string,
  query: CellQuery,
): AsyncGenerator<Cell[]> {
  const [names, bucketsAtOnce] = await Promise.all([
    query.names ?? rankGroups(database, spaceId, query),
    countBucketsAtOnce(database, spaceId, query),
  ]);
  const startPart = (first: number) => {
    const boundaries = query.boundaries.slice(first, first + bucketsAtOnce + 1);
    if (boundaries.length < 2) return undefined;
    const cells = readPart(database, spaceId, { ...query, names, boundaries, first });
    // The caller may stop before it takes them.
    cells.catch(() => {});
    return cells;
  };
  const started = [startPart(0), startPart(bucketsAtOnce)];
  for (let first = 2 * bucketsAtOnce; ; first += bucketsAtOnce) {
    const cells = await started.shift();
    if (cells === undefined) return;
    started.push(startPart(first));
    yield cells;
  }
}

/**
 * The number of buckets whose rows one statement reads. A bucket has at most as many rows as a long roll-up
 * within the range.
 */
async function countBucketsAtOnce(database: Database, spaceId: string, query: CellQuery): Promise<number> {
  const { boundaries, names, groupsMax = 1 } = query;
  if (isReadAtOnce(boundaries, names?.length ?? groupsMax)) return boundaries.length - 1;
  const whole = { ...query, boundaries: [boundaries[0] ?? 0, boundaries.at(-1) ?? 0] };
  const [widest] = await database.execute<{ rows: number }>(sql`
SELECT count(*)::integer AS rows FROM (${selectSpans(spaceId, whole, [])}) AS whole GROUP BY place ORDER BY rows DESC LIMIT 1`);
  return Math.max(1, Math.floor(rowsAtOnceMax / Math.max(1, Number(widest?.rows ?? 0))));
}

/** Whether one statement may read a chart of so many groups. */
export function isReadAtOnce(boundaries: readonly number[], groups: number): boolean {
  const buckets = boundaries.length - 1;
  return buckets <= wholeBucketsMax && buckets * groups <= rowsAtOnceMax;
}

/** The groups with the most events in the whole range of a query. */
export async function rankGroups(database: Database, spaceId: string, query: CellQuery): Promise<string[]> {
  const { boundaries, group, groupsMax = 1 } = query;
  if (group === 'none') return [''];
  const { events } = eventStats;
  // From the longest roll-ups: keeping the rows of all buckets would exceed the memory that Postgres gives a
  // query.
  const whole = { ...query, boundaries: [boundaries[0] ?? 0, boundaries.at(-1) ?? 0] };
  const rows = await database.execute<{ grouped: string }>(sql`
SELECT grouped FROM (${selectSpans(spaceId, whole, [events])}) AS whole
WHERE grouped IS NOT NULL GROUP BY grouped ORDER BY sum(${nameOf(events)}) DESC, grouped LIMIT ${groupsMax}`);
  return rows.map(({ grouped }) => grouped);
}

interface PartQuery extends CellQuery {
  readonly names: readonly string[];
  /** The place of the first bucket among those of the whole query. */
  readonly first: number;
}

async function readPart(database: Database, spaceId: string, query: PartQuery): Promise<Cell[]> {
  const { names, first, withDurations = false, withSlices = false, byModel = false } = query;
  const key = byModel ? sql`bucket, named, model` : sql`bucket, named`;
  const sums = Object.values(summed);
  const [read, latency] = withDurations ? [[...sums, eventStats.latency], sketches] : [sums, sql`''::bytea`];
  // OFFSET 0 lets Postgres 18 look names up in a hash table, which it does not in the expression of GROUP BY.
  // A join would be a nested loop over all rows while Postgres has not analyzed the statistics.
  const isNamed = sql`grouped = ANY (${`{${names.map(quoteElement).join(',')}}`}::text[])`;
  const slices = withSlices ? await readSlices(database, spaceId, query) : new Map<string, Slice[]>();
  const rows = await database.execute<Record<string, unknown>>(sql`
SELECT ${key}, ${sumAll(sums)}, ${latency} AS latency
FROM (SELECT *, CASE WHEN ${isNamed} THEN grouped END AS named FROM (${selectSpans(spaceId, query, read)}) AS spans OFFSET 0) AS cells
GROUP BY ${key} ORDER BY bucket`);
  return mapInSlices(rows, (row) => {
    const cell = toCell(row);
    const own = slices.get(keyOf(cell));
    if (own !== undefined) cell.slices = own;
    cell.bucket += first;
    return cell;
  });
}

/** Sketches are merged by the reader: in SQL, each of their elements would become a row (ADR 0021). */
export const sketches = sql`string_agg(array_send(${nameOf(eventStats.latency)}), ''::bytea)`;

export const sumAll = (columns: readonly PgColumn[]) =>
  listOf(columns.map((column) => sql`coalesce(sum(${nameOf(column)}), 0)::float8 AS ${nameOf(column)}`));
/** No text in Postgres has U+0000. */
const keyOf = ({ bucket, group, model }: Pick<Cell, 'bucket' | 'group' | 'model'>) =>
  `${bucket}\0${group === null ? '' : `=${group}`}\0${model ?? ''}`;

/**
 * The slices of cells. They are read before the cells: an event that is stored meanwhile then has the common
 * price until the next read, where the other order could subtract what no cell has.
 */
async function readSlices(
  database: Database,
  spaceId: string,
  query: PartQuery,
): Promise<Map<string, Slice[]>> {
  const { priceClass, usageUnits, reportedCost } = sliceStats;
  const key = query.byModel === true ? sql`bucket, named, model` : sql`bucket, named`;
  const sums = Object.values(summed);
  const read = [...sums, priceClass, usageUnits, reportedCost];
  const rows = await database.execute<Record<string, unknown>>(sql`
SELECT ${key}, ${nameOf(priceClass)}, ${sumAll(sums)}, ${sumAll([usageUnits])}, sum(${nameOf(reportedCost)})::text AS ${nameOf(reportedCost)}
FROM (SELECT *, grouped AS named FROM (${selectSpans(spaceId, { ...query, ofSlices: true }, read)}) AS spans) AS slices
GROUP BY ${key}, ${nameOf(priceClass)}`);
  const names = new Set(query.names);
  const slices = new Map<string, Slice[]>();
  await visitInSlices(rows, (row) => {
    const cell = toCell(row);
    const ofCell = keyOf({
      ...cell,
      group: cell.group !== null && names.has(cell.group) ? cell.group : null,
    });
    const own = slices.get(ofCell) ?? [];
    own.push(toSlice(cell, row));
    slices.set(ofCell, own);
  });
  return slices;
}

function toSlice(cell: Omit<Cell, 'group'>, row: Record<string, unknown>): Slice {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = cell;
  const reportedCost = row[sliceStats.reportedCost.name];
  return {
    ...{ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
    priceClass: String(row[sliceStats.priceClass.name]),
    usageUnits: Number(row[sliceStats.usageUnits.name] ?? 0),
    reportedCost: reportedCost === null ? null : String(reportedCost),
  };
}

export function toCell(row: Record<string, unknown>): Cell {
  const sumOf = ({ name }: PgColumn) => Number(row[name]);
  return {
    bucket: Number(row.bucket),
    group: row.named === null ? null : String(row.named),
    ...(row.model !== undefined && { model: String(row.model) }),
    events: sumOf(summed.events),
    errors: sumOf(summed.errors),
    inputTokens: sumOf(summed.inputTokens),
    outputTokens: sumOf(summed.outputTokens),
    cacheReadTokens: sumOf(summed.cacheReadTokens),
    cacheWriteTokens: sumOf(summed.cacheWriteTokens),
    reasoningTokens: sumOf(summed.reasoningTokens),
    latency: row.latency as Buffer,
  };
}
