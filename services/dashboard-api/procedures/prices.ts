import { z } from 'zod';
import { day } from '../../../platform/instant.ts';
import { isPrice } from '../../../store/prices/decimal.ts';
import {
  listedPrice,
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
