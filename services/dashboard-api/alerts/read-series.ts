import { and, eq, sql } from 'drizzle-orm';
import { LatencySketch } from '../../../event/latency-sketch.ts';
import { sumParts } from '../../../event/usage/usage-parts.ts';
import { readUsage } from '../../../store/accounts/usage.ts';
import type { Database } from '../../../store/db/database.ts';
import { events, quarantine } from '../../../store/db/schema.ts';
import { addStatistics, CostSum, type Usage } from '../../../store/prices/cost-sum.ts';
import { type AppliedPrice, openPriceBook } from '../../../store/prices/price-book.ts';
import { listParts, sumTokens } from '../../../store/read/activity/activity-summary.ts';
import { matchTime, matchValues } from '../../../store/read/event-filter.ts';
import { sketchElement } from '../../../store/write/latency-sketch.ts';
import { lookUpDimension } from '../charts/dimension.ts';
import { visitPricedCells } from '../charts/priced-cells.ts';
import { type Cell, readCellsInParts } from '../charts/read-cells.ts';
import { visitInSlices } from '../slices.ts';
import type { Bucket, Series } from './evaluation.ts';
import type { AlertCondition, AlertFilter } from './rule.ts';

interface SeriesQuery {
  readonly rule: Pick<AlertCondition, 'kind' | 'filter'>;
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

/**
 * Reads the buckets of a rule: from the statistics of its space, and then the work does not depend on the
 * number of events; or, with an additional property that is no dimension of the space, or that still counts
 * older events, from the events.
 */
export async function readSeries(
  database: Database,
  spaceId: string,
  { rule: { kind, filter }, startMs, endMs, stepMs }: SeriesQuery,
): Promise<Series> {
  const count = Math.round((endMs - startMs) / stepMs);
  const boundaries = Array.from({ length: count + 1 }, (_, index) => startMs + index * stepMs);
  const withDurations = kind === 'p95';
  const buckets: (Bucket | undefined)[] = Array.from({ length: count });
  const add = (cell: SeriesCell, price?: AppliedPrice) => {
    const before = buckets[cell.bucket];
    buckets[cell.bucket] = {
      events: (before?.events ?? 0) + cell.events,
      errors: (before?.errors ?? 0) + cell.errors,
      tokens: (before?.tokens ?? 0) + cell.inputTokens + cell.outputTokens,
      cost: kind === 'cost' ? withCost(before?.cost, cell, price) : undefined,
      latency: withDurations ? withLatency(before?.latency, cell) : undefined,
    };
  };
  const { attributeKey: key, attributeValue: value = '', ...columns } = filter;
  const chart = { ...columns, ...(key !== undefined && { attribute: { key, value } }) };
  const byModel = kind === 'cost';
  const dimension = await lookUpDimension(database, spaceId, { group: 'none', filter: chart, byModel });
  if (typeof dimension === 'string' || dimension?.isComplete === false) {
    const query = { filter, startMs, endMs, stepMs, byModel, withDurations };
    const cells = await countEvents(database, spaceId, query);
    const models = byModel ? [...new Set(cells.map(({ group }) => group ?? ''))] : [];
    const book = await openPriceBook(database, spaceId, models);
    // Prices change at the start of a UTC day, which is also the start of a bucket.
    await visitInSlices(cells, (cell) =>
      add(cell, book.priceAt(cell.group ?? '', boundaries[cell.bucket] ?? 0)),
    );
  } else if (byModel)
    await visitPricedCells(
      { database, spaceId },
      { boundaries, filter: chart, dimension },
      (cell, { price }) => add(cell, price),
    );
  else {
    const query = { boundaries, group: 'none', filter: chart, dimension, withDurations } as const;
    for await (const cells of readCellsInParts(database, spaceId, query))
      await visitInSlices(cells, (cell) => add(cell));
  }
  return { startMs, stepMs, buckets };
}

function withCost(sum = new CostSum(), cell: SeriesCell, price: AppliedPrice | undefined): CostSum {
  if ('priceClass' in cell) sum.add(cell, price);
  else addStatistics(sum, cell, price);
  return sum;
}

/**
 * A week by five minutes has two thousand buckets, each with the sketches of hundreds of models: they are
 * merged as they are read.
 */
function withLatency(sketch = new LatencySketch(), { latency }: SeriesCell): LatencySketch {
  sketch.addBinary(latency);
  return sketch;
}

/**
 * The current value of a rule that is not measured over a window: percent of the quota, or entries in
 * quarantine.
 */
export async function readValueNow(
  database: Database,
  spaceId: string,
  kind: AlertCondition['kind'],
): Promise<number | null> {
  if (kind === 'quarantine') return database.$count(quarantine, eq(quarantine.spaceId, spaceId));
  const usage = await readUsage(database, spaceId);
  if (usage === undefined || usage.monthlyEventLimit === null) return null;
  if (usage.events === null) throw new Error('the node with the usage of the space cannot be reached');
  return usage.monthlyEventLimit === 0 ? 100 : (100 * usage.events) / usage.monthlyEventLimit;
}

/** The sums of one bucket, and of one model if they are grouped. */
export type SeriesCell = Omit<Cell, 'reasoningTokens'> | EventSums;

/** The sums of events with the same price class. */
type EventSums = Omit<Cell, 'reasoningTokens' | 'slices'> & Usage & { readonly priceClass: string | null };

interface CountQuery extends Omit<SeriesQuery, 'rule'> {
  readonly filter: AlertFilter;
  /** Counts only calls of models, by model. */
  readonly byModel: boolean;
  readonly withDurations: boolean;
}

/**
 * Sums the events of a filter that statistics do not have, one by one: the work depends on the number of
 * events in the time.
 */
async function countEvents(
  database: Database,
  spaceId: string,
  { filter, startMs, endMs, stepMs, byModel, withDurations }: CountQuery,
): Promise<EventSums[]> {
  const { attributeKey, attributeValue, ...columns } = filter;
  const attributes =
    attributeKey === undefined || attributeValue === undefined
      ? []
      : [{ key: attributeKey, value: attributeValue }];
  const rows = await database
    .select({
      bucket: sql<number>`floor((${events.startTimeMs} - ${startMs}) / ${stepMs})::integer`,
      group: byModel ? sql<string>`coalesce(${events.name}, '')` : sql<string>`''`,
      events: sql<number>`count(*)::float8`,
      errors: sql<number>`(count(*) FILTER (WHERE ${eq(events.state, 'error')}))::float8`,
      inputTokens: sumTokens(events.inputTokens),
      outputTokens: sumTokens(events.outputTokens),
      cacheReadTokens: sumTokens(events.cacheReadTokens),
      cacheWriteTokens: sumTokens(events.cacheWriteTokens),
      priceClass: byModel ? sql<string | null>`${events.priceClass}` : sql<null>`NULL::text`,
      reportedCost: sql<string | null>`sum(${events.reportedCost})::text`,
      usageParts: listParts(events.usageParts),
      latency: withDurations ? sql<Buffer>`array_send(array_agg(${sketchElement}))` : sql<Buffer>`''::bytea`,
    })
    .from(events)
    .where(
      and(
        eq(events.spaceId, spaceId),
        matchTime({ from: startMs, to: endMs }),
        matchValues({ ...columns, attributes, ...(byModel && { type: 'llm' as const }) }),
      ),
    )
    .groupBy(sql`1`, sql`2`, events.priceClass);
  return rows.map((row) => ({ ...row, usageParts: sumParts(row.usageParts) }));
}
