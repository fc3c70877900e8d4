import { TRPCError } from '@trpc/server';
import { timeMsMax } from '../../../platform/limits.ts';
import { dayMs, hourMs } from '../../../platform/time.ts';
import type { Database } from '../../../store/db/database.ts';
import { readListChanges } from '../../../store/prices/list-prices.ts';
import { dayOf, openPriceBook } from '../../../store/prices/price-book.ts';
import { listPrices } from '../../../store/prices/prices.ts';
import type { CostRate } from '../../../store/read/compare/comparisons.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { costRangeDaysMax, costRateModelsMax } from '../limits.ts';
import { readCells } from './read-cells.ts';

/**
 * Adds the prices to a filter that compares costs: those of the models that were used in its range. Other filters are returned unchanged.
 *
 * @throws TRPCError BAD_REQUEST when the range is open or too long, or has too many models.
 */
export async function withCostRates<Filter extends EventFilter>(
  database: Database,
  spaceId: string,
  filter: Filter,
): Promise<Filter> {
  if (!comparesCosts(filter)) return filter;
  const { from, to = Math.max(Date.now(), from ?? 0) + dayMs } = filter;
  if (from === undefined || to - from > (costRangeDaysMax + 1) * dayMs) {
    const message = `comparisons: costs are compared in a range of at most ${costRangeDaysMax} days. Choose a range.`;
    throw new TRPCError({ code: 'BAD_REQUEST', message });
  }
  return { ...filter, costRates: await readRates(database, spaceId, { from, to }) };
}

/** The same for live streams: with the models of the last days. A model that is first used later has no cost until the stream is opened again. */
export async function withRecentRates<Filter extends EventFilter>(
  database: Database,
  spaceId: string,
  filter: Filter,
): Promise<Filter> {
  if (!comparesCosts(filter)) return filter;
  const to = Date.now() + dayMs;
  return {
    ...filter,
    costRates: await readRates(database, spaceId, { from: to - costRangeDaysMax * dayMs, to }),
  };
}

function comparesCosts({ comparisons = [] }: EventFilter): boolean {
  return comparisons.some(({ measure }) => measure === 'cost');
}

async function readRates(
  database: Database,
  spaceId: string,
  { from, to }: { from: number; to: number },
): Promise<CostRate[]> {
  const boundaries = [Math.floor(from / hourMs) * hourMs, Math.ceil(to / hourMs) * hourMs];
  const cells = await readCells(database, spaceId, {
    boundaries,
    group: 'model',
    filter: {},
    groupsMax: costRateModelsMax,
    withDurations: false,
  });
  if (cells.some(({ group }) => group === null)) {
    const message = `comparisons: the range has more than ${costRateModelsMax} models. Choose a shorter one to compare costs.`;
    throw new TRPCError({ code: 'BAD_REQUEST', message });
  }
  const models = cells.flatMap(({ group }) => group ?? []);
  const [set, changes] = await Promise.all([listPrices(database, spaceId), readListChanges(database)]);
  const priceOf = await openPriceBook(database, spaceId, models, set);
  const days = [...set.map(({ validFrom }) => validFrom), ...changes].map(dayOf);
  // The first price of a model holds from 1970 on.
  const starts = [...new Set([0, ...days])].toSorted((a, b) => a - b);
  return models.flatMap((model) =>
    starts.flatMap((fromMs, place): CostRate[] => {
      const price = priceOf(model, fromMs);
      if (price === undefined) return [];
      const [input, output] = [Number(price.input), Number(price.output)];
      const cacheRead = Number(price.cacheRead ?? price.input);
      const cacheWrite = Number(price.cacheWrite ?? price.input);
      return [
        { model, fromMs, toMs: starts[place + 1] ?? timeMsMax + 1, input, output, cacheRead, cacheWrite },
      ];
    }),
  );
}
