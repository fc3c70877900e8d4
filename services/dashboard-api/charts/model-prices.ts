import { z } from 'zod';
import { hourMs } from '../../../platform/time.ts';
import { openPriceBook } from '../../../store/prices/price-book.ts';
import { costModelsMax, pricedDays } from '../limits.ts';
import type { SpaceRows } from '../space-data.ts';
import { readCells } from './read-cells.ts';

export const usedModel = z
  .object({
    model: z.string(),
    /** Input and output tokens of the last 30 days. */
    tokens: z.number(),
    /** The price that applies now: US dollars per million tokens. Null without one. */
    price: z
      .object({
        /** Who set it: an owner for this space, the operator for all spaces, or nobody: it is the provider's list price. */
        origin: z.enum(['space', 'operator', 'list']),
        input: z.string(),
        output: z.string(),
        cacheRead: z.string().nullable(),
        cacheWrite: z.string().nullable(),
        /** Prices of other kinds of usage, tiers and sizes of the input. */
        rates: z.record(z.string(), z.string()),
        /** Of a list price: its name in the list, where the list is from, and the day of the last list with this price. */
        list: z.object({ model: z.string(), source: z.string(), day: z.iso.date() }).nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'UsedModel' });
export type UsedModel = z.infer<typeof usedModel>;

/** The models of the last 30 days that have tokens, by descending number of events, with the price that applies to each. */
export async function readUsedModels({ database, spaceId }: SpaceRows): Promise<UsedModel[]> {
  const now = Date.now();
  const to = Math.ceil(now / hourMs) * hourMs;
  const cells = await readCells(database, spaceId, {
    boundaries: [to - pricedDays * 24 * hourMs, to],
    group: 'model',
    filter: {},
    groupsMax: costModelsMax,
    withDurations: false,
  });
  const used = cells.flatMap(({ group, inputTokens, outputTokens }) => {
    const tokens = inputTokens + outputTokens;
    return group === null || group === '' || tokens <= 0 ? [] : [{ model: group, tokens }];
  });
  const models = used.map(({ model }) => model);
  const book = await openPriceBook(database, spaceId, models);
  return used.map(({ model, tokens }) => {
    const price = book.priceAt(model, now);
    if (price === undefined) return { model, tokens, price: null };
    const { origin, input, output, cacheRead, cacheWrite, rates } = price;
    const list =
      price.origin === 'list' ? { model: price.model, source: price.source, day: price.listedOn } : null;
    return { model, tokens, price: { origin, input, output, cacheRead, cacheWrite, rates, list } };
  });
}
