import { z } from 'zod';
import { hourMs } from '../../../platform/time.ts';
import { events } from '../../../store/db/schema.ts';
import { openPriceBook } from '../../../store/prices/price-book.ts';
import { priceTable } from '../../../store/prices/rates.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { newestLimits } from '../../../store/read/limits.ts';
import { topEventsCompared } from '../limits.ts';
import type { SpaceRows } from '../space-data.ts';
import { priceSource, sourceOf } from './cost-reason.ts';
import { costModelsMax } from './priced-cells.ts';
import { readCells } from './read-cells.ts';
import { callOf, differsFromPrice, type PricedRow, pricedColumns } from './token-prices.ts';

const pricedDays = 30;

export const usedModel = z
  .object({
    model: z.string(),
    /** Input and output tokens of the last 30 days. */
    tokens: z.number(),
    /** The price that applies now: US dollars per million tokens. Null without one. */
    price: priceSource.extend(priceTable.shape).nullable(),
    /**
     * Of the newest model calls of these days, those whose cost the sender reported and a price is known for.
     */
    reported: z.object({
      compared: z.number(),
      /** Number of them whose reported cost is more than 1 % from that at the price. */
      differing: z.number(),
    }),
  })
  .meta({ id: 'UsedModel' });
export type UsedModel = z.infer<typeof usedModel>;

/**
 * The models of the last 30 days that have tokens, by descending number of events, with the price that
 * applies to each.
 */
export async function readUsedModels({ database, spaceId }: SpaceRows): Promise<UsedModel[]> {
  const now = Date.now();
  const to = Math.ceil(now / hourMs) * hourMs;
  const from = to - pricedDays * 24 * hourMs;
  const cells = await readCells(database, spaceId, {
    boundaries: [from, to],
    group: 'model',
    filter: {},
    groupsMax: costModelsMax,
    withSlices: true,
  });
  const isReported = cells.some(({ slices = [] }) =>
    slices.some(({ reportedCost }) => reportedCost !== null),
  );
  const calls = isReported ? await readReported({ database, spaceId }, from) : [];
  const used = cells.flatMap(({ group, inputTokens, outputTokens }) => {
    const tokens = inputTokens + outputTokens;
    return group === null || group === '' || tokens <= 0 ? [] : [{ model: group, tokens }];
  });
  const models = used.map(({ model }) => model);
  const book = await openPriceBook(database, spaceId, models);
  const compared = Map.groupBy(calls, ({ name }) => name);
  return used.map(({ model, tokens }) => {
    const price = book.priceAt(model, now);
    const priced = (compared.get(model) ?? []).flatMap((row) => {
      const own = book.priceAt(model, row.startTimeMs);
      return own === undefined ? [] : [differsFromPrice(callOf(row), own)];
    });
    const reported = { compared: priced.length, differing: priced.filter(Boolean).length };
    if (price === undefined) return { model, tokens, price: null, reported };
    const { input, output, cacheRead, cacheWrite, rates } = price;
    return {
      model,
      tokens,
      price: { ...sourceOf(price), input, output, cacheRead, cacheWrite, rates },
      reported,
    };
  });
}

/** The model calls with a reported cost among the newest. */
async function readReported({ database, spaceId }: SpaceRows, from: number): Promise<PricedRow[]> {
  const filter = { from, type: 'llm' as const };
  const query = { filter, after: undefined, limit: topEventsCompared };
  const columns = { id: events.id, segmentId: events.segmentId, ...pricedColumns };
  const { rows } = await readEventPage(database, spaceId, { columns, ...query, limits: newestLimits });
  return rows.filter(({ reportedCost }) => reportedCost !== null);
}
