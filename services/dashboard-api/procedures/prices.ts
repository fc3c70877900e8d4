import { z } from 'zod';
import { day } from '../../../platform/instant.ts';
import { isPrice } from '../../../store/prices/decimal.ts';
import {
  type ListedPrice,
  listPrices,
  removePrice,
  setPrice,
  spacePricesMax,
} from '../../../store/prices/prices.ts';
import { rates } from '../../../store/prices/rates.ts';
import { readUsedModels, usedModel } from '../charts/model-prices.ts';
import { refusal } from '../refusal.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

const price = z
  .string()
  .refine(isPrice, 'must be a decimal such as 2.50: dollars per million tokens, at most 6 decimal places');

const priceKey = {
  model: z.string().min(1).max(256),
  /** The first UTC day of the price. By default the price applies to all time. */
  validFrom: day.default('1970-01-01'),
};

const listedPrice = z
  .object({
    /** Null: the price applies to every space without its own price for the model. */
    spaceId: z.guid().nullable(),
    model: z.string(),
    /** The first UTC day of the price. */
    validFrom: z.iso.date(),
    /** US dollars per million tokens, exact decimals. */
    input: z.string(),
    output: z.string(),
    /** For input tokens read from, or written to, a cache. Null: no separate price. */
    cacheRead: z.string().nullable(),
    cacheWrite: z.string().nullable(),
    /** Prices of other kinds of usage, tiers and sizes of the input, such as `input priority`. */
    rates: z.record(z.string(), z.string()),
  } satisfies Record<keyof ListedPrice, z.ZodType>)
  .meta({ id: 'ListedPrice' });

export const prices = router({
  /** The prices that apply to the space: its own (`spaceId`), and the operator's for all spaces. */
  list: spaceProcedure('viewer', { isStatistics: true })
    .output(z.array(listedPrice))
    .query(({ ctx }) => listPrices(ctx.space.database, ctx.space.spaceId)),

  /**
   * The models of the last 30 days, and the price that applies to each: own, of the operator, or the
   * provider's list price.
   */
  models: spaceProcedure('viewer', { isStatistics: true })
    .output(z.array(usedModel))
    .query(({ ctx }) => readUsedModels(ctx.space)),

  /** Sets the space's own price for a model from a day on. It replaces a price of the same day. */
  set: spaceProcedure('owner')
    .input(
      z.object({
        ...priceKey,
        input: price,
        output: price,
        cacheRead: price.nullable().default(null),
        cacheWrite: price.nullable().default(null),
        rates: rates.default({}),
      }),
    )
    .output(z.void())
    .mutation(async ({ ctx, input: changed }) => {
      const { admin, actor } = ctx;
      const change = { spaceId: admin.spaceId, actor };
      if (await admin.inTurn(() => setPrice(admin.database, change, changed))) return;
      const message = `model: the space has ${spacePricesMax} prices, the most that it can have. Remove one first.`;
      throw refusal('PRECONDITION_FAILED', message);
    }),

  /** Removes one of the space's own prices. NOT_FOUND when there is none. */
  remove: spaceProcedure('owner')
    .input(z.object(priceKey))
    .output(z.void())
    .mutation(async ({ ctx, input: { model, validFrom } }) => {
      const { actor, space } = ctx;
      if (await removePrice(space.database, { spaceId: space.spaceId, actor }, { model, validFrom })) return;
      throw refusal('NOT_FOUND', 'There is no such price.');
    }),
});
