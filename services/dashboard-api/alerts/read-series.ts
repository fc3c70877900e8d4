import { eq } from 'drizzle-orm';
import { readUsage } from '../../../store/accounts/usage.ts';
import type { Database } from '../../../store/db/database.ts';
import { quarantine } from '../../../store/db/schema.ts';
import { formatCost } from '../../../store/prices/decimal.ts';
import { openPriceBook } from '../../../store/prices/price-book.ts';
import { readCells } from '../charts/read-cells.ts';
import { priceTokens } from '../charts/token-prices.ts';
import { costModelsMax } from '../limits.ts';
import { countEvents, type SeriesCell } from './count-events.ts';
import type { Bucket, Series } from './evaluation.ts';
import { type AlertCondition, countsEvents } from './rule.ts';

/**
 * Reads the buckets of a rule: from the statistics of its space, and then the work does not depend on the number of events; or, with an
 * additional property, from the events.
 */
export async function readSeries(
  database: Database,
  spaceId: string,
  { kind, filter }: Pick<AlertCondition, 'kind' | 'filter'>,
  { startMs, endMs, stepMs }: { startMs: number; endMs: number; stepMs: number },
): Promise<Series> {
  const count = Math.round((endMs - startMs) / stepMs);
  const boundaries = Array.from({ length: count + 1 }, (_, index) => startMs + index * stepMs);
  const isCost = kind === 'cost';
  const withDurations = kind === 'p95';
  const cells = countsEvents(filter)
    ? await countEvents(database, spaceId, { filter, startMs, endMs, stepMs, byModel: isCost, withDurations })
    : await readCells(database, spaceId, {
        boundaries,
        group: isCost ? 'model' : 'none',
        filter,
        groupsMax: isCost ? costModelsMax : 1,
        withDurations,
      });
  const costOf = isCost ? await openCosts(database, spaceId, cells, boundaries) : () => 0;
  const buckets: (Bucket | undefined)[] = Array.from({ length: count });
  for (const cell of cells) {
    const before = buckets[cell.bucket];
    buckets[cell.bucket] = {
      events: (before?.events ?? 0) + cell.events,
      errors: (before?.errors ?? 0) + cell.errors,
      tokens: (before?.tokens ?? 0) + cell.inputTokens + cell.outputTokens,
      cost: (before?.cost ?? 0) + costOf(cell),
      latency: cell.latency,
    };
  }
  return { startMs, stepMs, buckets };
}

/** Prices change at the start of a UTC day, which is also the start of a bucket. */
async function openCosts(
  database: Database,
  spaceId: string,
  cells: readonly SeriesCell[],
  boundaries: readonly number[],
): Promise<(cell: SeriesCell) => number> {
  const models = [...new Set(cells.flatMap(({ group }) => group ?? []))];
  const priceOf = await openPriceBook(database, spaceId, models);
  return (cell) => {
    const price = cell.group === null ? undefined : priceOf(cell.group, boundaries[cell.bucket] ?? 0);
    return Number(formatCost(priceTokens(cell, price).units));
  };
}

/** The current value of a rule that is not measured over a window: percent of the quota, or entries in quarantine. */
export async function readValueNow(
  database: Database,
  spaceId: string,
  kind: AlertCondition['kind'],
): Promise<number | null> {
  if (kind === 'quarantine') return database.$count(quarantine, eq(quarantine.spaceId, spaceId));
  const usage = await readUsage(database, spaceId);
  if (usage === undefined || usage.monthlyEventLimit === null) return null;
  return usage.monthlyEventLimit === 0 ? 100 : (100 * usage.events) / usage.monthlyEventLimit;
}
