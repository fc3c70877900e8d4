import { z } from 'zod';
import { LatencySketch } from '../../../event/latency-sketch.ts';
import { visitInSlices } from '../slices.ts';
import type { SpaceRows } from '../space-data.ts';
import { type ChartFilter, type ChartGroup, findDimension } from './dimension.ts';
import { type Cell, isReadAtOnce, readCellsInParts, type Sums, sumNames } from './read-cells.ts';
import { type ChartRange, chartBucketsMax, timeBoundaries } from './time-buckets.ts';
import { readTopCells, type TopCells } from './top-cells.ts';

/** Ten groups and all others in every bucket: each point takes some 40 µs, and 200 bytes. */
export const chartCellsMax = 11 * chartBucketsMax;

export interface ChartQuery extends ChartRange {
  groupBy: ChartGroup;
  filter: ChartFilter;
  /** Most groups shown separately: those with the most events. */
  groupsMax: number;
}

const measures = z
  .object({
    events: z.number(),
    errors: z.number(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadTokens: z.number(),
    cacheWriteTokens: z.number(),
    reasoningTokens: z.number(),
    /** Percentiles of the durations in milliseconds, within 5% of the exact ones; null without events. */
    p50Ms: z.number().nullable(),
    p95Ms: z.number().nullable(),
    p99Ms: z.number().nullable(),
  } satisfies Record<keyof Sums | `p${50 | 95 | 99}Ms`, z.ZodType>)
  .meta({ id: 'Measures' });
export type Measures = z.infer<typeof measures>;

const chartSeries = z
  .object({
    /**
     * The group's value: empty for events without one, or without grouping; null for all remaining groups.
     */
    group: z.string().nullable(),
    total: measures,
    /** The buckets with events, in time order. `bucket` is the index in `starts`. */
    points: z.array(measures.extend({ bucket: z.number() }).meta({ id: 'ChartPoint' })),
  })
  .meta({ id: 'ChartSeries' });

export const chart = z
  .object({
    /** Starts of the buckets, in milliseconds since the epoch. The range is widened to whole buckets. */
    starts: z.array(z.number()),
    end: z.number(),
    /** Groups by descending number of events; the remaining groups together come last. */
    series: z.array(chartSeries),
  })
  .meta({ id: 'Chart' });
export type Chart = z.infer<typeof chart>;

/**
 * Reads statistics, which also count events that have since expired or were erased. A chart of many buckets
 * shows fewer groups than asked (see {@link groupsWithin}).
 * @throws TRPCError BAD_REQUEST when the range is empty or has too many buckets, or when statistics do not
 * have the filter.
 */
export async function readChart(
  { database, spaceId }: SpaceRows,
  { groupBy, filter, groupsMax, ...range }: ChartQuery,
): Promise<Chart> {
  const boundaries = timeBoundaries(range);
  const dimension = await findDimension(database, spaceId, { group: groupBy, filter });
  const query = {
    ...{ boundaries, group: groupBy, filter, dimension },
    groupsMax: Math.min(groupsMax, groupsWithin(boundaries)),
  };
  const isByDimension = dimension !== undefined && dimension.value === undefined;
  const { names, cells }: Partial<TopCells> =
    isByDimension && isReadAtOnce(boundaries, query.groupsMax)
      ? await readTopCells(database, spaceId, query)
      : {};
  const parts = cells
    ? [cells]
    : readCellsInParts(database, spaceId, { ...query, names, withDurations: true });
  const groups = new Map<string | null, Series>();
  const durations = new LatencySketch();
  for await (const cells of parts)
    await visitInSlices(cells, (cell) => {
      const series = groups.get(cell.group) ?? new Series();
      groups.set(cell.group, series);
      durations.clear();
      durations.addBinary(cell.latency);
      for (const one of cell.subtracted ?? []) durations.addBinary(one, -1);
      series.add(cell, durations);
    });
  const series = Array.from(groups, ([group, { total, points }]) => ({ group, total, points }));
  return {
    starts: boundaries.slice(0, -1),
    end: boundaries.at(-1) ?? range.to,
    series: series.toSorted(compareSeries),
  };
}

/** Number of groups besides that of all others, with which a chart has {@link chartCellsMax} points. */
export function groupsWithin(boundaries: readonly number[]): number {
  return Math.floor(chartCellsMax / (boundaries.length - 1)) - 1;
}

type ShownSeries = z.infer<typeof chartSeries>;

/** By descending number of events; all others come last. */
function compareSeries(a: ShownSeries, b: ShownSeries): number {
  if (a.group === null || b.group === null) return a.group === null ? 1 : -1;
  return b.total.events - a.total.events || (a.group < b.group ? -1 : 1);
}

class Series {
  readonly points: ShownSeries['points'] = [];
  readonly #sums: Sums = { ...noSums };
  readonly #durations = new LatencySketch();

  add(cell: Cell, durations: LatencySketch): void {
    this.points.push({ bucket: cell.bucket, ...toMeasures(cell, durations) });
    this.#durations.merge(durations);
    for (const name of sumNames) this.#sums[name] += cell[name];
  }

  get total(): Measures {
    return toMeasures(this.#sums, this.#durations);
  }
}

const noSums = Object.fromEntries(sumNames.map((name) => [name, 0])) as Sums;

function toMeasures(sums: Sums, durations: LatencySketch): Measures {
  const [p50Ms = null, p95Ms = null, p99Ms = null] = durations.quantiles([0.5, 0.95, 0.99]);
  const { events, errors, inputTokens, outputTokens } = sums;
  const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = sums;
  return {
    ...{ events, errors, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens },
    ...{ p50Ms, p95Ms, p99Ms },
  };
}
