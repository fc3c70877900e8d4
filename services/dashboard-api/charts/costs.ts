import { z } from 'zod';
import type { Database } from '../../../store/db/database.ts';
import { readListChanges } from '../../../store/prices/list-prices.ts';
import { dayOf, openPriceBook } from '../../../store/prices/price-book.ts';
import { listPrices } from '../../../store/prices/prices.ts';
import { costModelsMax } from '../limits.ts';
import { readCells } from './read-cells.ts';
import { type ChartRange, timeBoundaries } from './time-buckets.ts';
import { cost, priceTokens, showCost } from './token-prices.ts';

export interface CostQuery extends ChartRange {
  source?: string | undefined;
}

const modelCost = cost
  .extend({
    model: z.string().nullable(),
    points: z.array(cost.extend({ bucket: z.number() }).meta({ id: 'CostPoint' })),
  })
  .meta({ id: 'ModelCost' });

export const costs = z
  .object({
    /** Starts of the buckets, in milliseconds since the epoch. The range is widened to whole buckets. */
    starts: z.array(z.number()),
    end: z.number(),
    total: cost,
    /** Models by descending number of events. A null name is all models after the first thousand. */
    models: z.array(modelCost),
  })
  .meta({ id: 'Costs' });
export type Costs = z.infer<typeof costs>;

/** The costs of models, from statistics and the prices of each UTC day (store/prices/price-book.ts). */
export async function readCosts(
  database: Database,
  spaceId: string,
  { source, ...range }: CostQuery,
): Promise<Costs> {
  const boundaries = timeBoundaries(range);
  const [prices, listChanges] = await Promise.all([listPrices(database, spaceId), readListChanges(database)]);
  // A bucket in which a price changes is read in two parts.
  const parts = splitAtChanges(boundaries, [...prices.map(({ validFrom }) => validFrom), ...listChanges]);
  const cells = await readCells(database, spaceId, {
    boundaries: parts,
    group: 'model',
    filter: { source },
    groupsMax: costModelsMax,
    withDurations: false,
  });
  const models = [...new Set(cells.flatMap(({ group }) => group ?? []))];
  const priceOf = await openPriceBook(database, spaceId, models, prices);
  const starts = boundaries.slice(0, -1);
  const priced = cells.map((cell) => {
    const atMs = parts[cell.bucket] ?? 0;
    const bucket = starts.findLastIndex((start) => start <= atMs);
    const price = cell.group === null ? undefined : priceOf(cell.group, atMs);
    return { model: cell.group, bucket, ...priceTokens(cell, price) };
  });
  const costsOfModels = [...Map.groupBy(priced, ({ model }) => model)].map(([model, own]) => ({
    model,
    ...showCost(own),
    points: [...Map.groupBy(own, ({ bucket }) => bucket)].map(([bucket, some]) => ({
      bucket,
      ...showCost(some),
    })),
  }));
  return { starts, end: boundaries.at(-1) ?? range.to, total: showCost(priced), models: costsOfModels };
}

/** Inserts the starts of days on which a price changes between the boundaries. */
function splitAtChanges(boundaries: readonly number[], days: readonly string[]): number[] {
  const [first = 0, last = 0] = [boundaries[0], boundaries.at(-1)];
  const changes = days.map(dayOf).filter((at) => at > first && at < last);
  return [...new Set([...boundaries, ...changes])].toSorted((a, b) => a - b);
}
