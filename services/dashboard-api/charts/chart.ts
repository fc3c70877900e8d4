import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { LatencySketch } from '../../../event/latency-sketch.ts';
import type { Database } from '../../../store/db/database.ts';
import { type Cell, type ChartFilter, type ChartGroup, readCells, type Sums } from './read-cells.ts';
import { type ChartRange, timeBoundaries } from './time-buckets.ts';

export interface ChartQuery extends ChartRange {
  groupBy: ChartGroup;
  filter: ChartFilter;
  /** Number of groups shown separately: those with the most events. */
  groupsMax: number;
}

/** Measures of one bucket and group, or of a whole group. */
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
    /** The group's value; empty for events without one, or without grouping; null for all remaining groups together. */
    group: z.string().nullable(),
    /** Over the whole range. */
    total: measures,
    /** The buckets with events, in time order. `bucket` is the index in `starts`. */
    points: z.array(measures.extend({ bucket: z.number() }).meta({ id: 'ChartPoint' })),
  })
  .meta({ id: 'ChartSeries' });

export const chart = z
  .object({
    /** Starts of the buckets, in milliseconds since the epoch. The range is widened to whole buckets. */
    starts: z.array(z.number()),
    /** End of the last bucket. */
    end: z.number(),
    /** Groups by descending number of events; the remaining groups together come last. */
    series: z.array(chartSeries),
  })
  .meta({ id: 'Chart' });
export type Chart = z.infer<typeof chart>;

/**
 * Reads a chart from statistics, which count every stored event, including events that have since expired or were erased.
 *
 * @throws TRPCError BAD_REQUEST when the range is empty or has too many buckets, or when statistics do not have the filter.
 */
export async function readChart(
  database: Database,
  spaceId: string,
  { groupBy, filter, groupsMax, ...range }: ChartQuery,
): Promise<Chart> {
  requireKnown(groupBy, filter);
  const boundaries = timeBoundaries(range);
  const cells = await readCells(database, spaceId, {
    boundaries,
    group: groupBy,
    filter,
    groupsMax,
    withDurations: true,
  });
  const groups = [...Map.groupBy(cells, ({ rank }) => rank)];
  return {
    starts: boundaries.slice(0, -1),
    end: boundaries.at(-1) ?? range.to,
    series: groups
      // Rank 0 is the remaining groups.
      .toSorted(([a], [b]) => (a || Infinity) - (b || Infinity))
      .map(([, own]) => toSeries(own)),
  };
}

/** Statistics by agent are separate from those by type, name and source, so they cannot be combined. */
export function requireKnown(groupBy: ChartGroup, { agentId, ...others }: ChartFilter): void {
  const byAgent = groupBy === 'agent' || agentId !== undefined;
  const byOther = Object.values(others).some((value) => value !== undefined);
  if (byAgent && (byOther || (groupBy !== 'agent' && groupBy !== 'none'))) {
    throw new TRPCError({
      code: 'BAD_REQUEST',
      message: 'agentId: a chart by agent cannot be filtered or grouped by type, model, tool or source.',
    });
  }
}

/** @param cells of one group. */
function toSeries(cells: readonly Cell[]): z.infer<typeof chartSeries> {
  const [sketch, sum] = [new LatencySketch(), new LatencySketch()];
  const points = cells.map((cell) => {
    sketch.clear();
    sketch.addBinary(cell.latency);
    sum.merge(sketch);
    return { bucket: cell.bucket, ...toMeasures(cell, sketch) };
  });
  return { group: cells[0]?.group ?? null, total: toMeasures(addCells(cells), sum), points };
}

function addCells(cells: readonly Cell[]): Sums {
  const add = (pick: (cell: Cell) => number) => cells.reduce((sum, cell) => sum + pick(cell), 0);
  return {
    events: add((cell) => cell.events),
    errors: add((cell) => cell.errors),
    inputTokens: add((cell) => cell.inputTokens),
    outputTokens: add((cell) => cell.outputTokens),
    cacheReadTokens: add((cell) => cell.cacheReadTokens),
    cacheWriteTokens: add((cell) => cell.cacheWriteTokens),
    reasoningTokens: add((cell) => cell.reasoningTokens),
  };
}

function toMeasures(sums: Sums, durations: LatencySketch): Measures {
  const [p50Ms = null, p95Ms = null, p99Ms = null] = durations.quantiles([0.5, 0.95, 0.99]);
  const { events, errors, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } =
    sums;
  return {
    events,
    errors,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
    p50Ms,
    p95Ms,
    p99Ms,
  };
}
