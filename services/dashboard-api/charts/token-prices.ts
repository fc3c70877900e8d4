import { z } from 'zod';
import { addedNumberMax } from '../../../event/limits.ts';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import { type Cost, CostSum, type Usage } from '../../../store/prices/cost-sum.ts';
import { openPriceBook } from '../../../store/prices/price-book.ts';

/** The cost of tokens. Tokens without a price are not included: `pricedTokens` of `tokens` have one. */
export const cost = z
  .object({
    /** US dollars, an exact decimal; null when neither a price nor a sender's cost is known. */
    cost: z.string().nullable(),
    /** Number of input and output tokens that have a price, or whose cost the sender reported. */
    pricedTokens: z.number(),
    /** Number of them whose price is the provider's list price. */
    listPricedTokens: z.number(),
    /** Number of them whose cost the sender reported. */
    reportedTokens: z.number(),
    /** Number of tokens and searches whose kind or tier has no price: the cost has that of the whole, or of the standard tier. */
    assumedTokens: z.number(),
    /** Number of all input and output tokens. */
    tokens: z.number(),
  } satisfies Record<keyof Cost, z.ZodType>)
  .meta({ id: 'Cost' });

/** The usage of calls of one model on one UTC day. */
export interface Calls extends Usage {
  readonly model: string | null;
  /** The start of one of the calls, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** The cost of each group of calls, at the prices of their days. Without tokens there is no query. */
export async function costOfCalls(
  database: Database,
  spaceId: string,
  groups: readonly (readonly Calls[])[],
): Promise<Cost[]> {
  const models = new Set<string>();
  for (const calls of groups)
    for (const { model, inputTokens, outputTokens } of calls)
      if (model !== null && inputTokens + outputTokens > 0) models.add(model);
  const book = await openPriceBook(database, spaceId, [...models]);
  return groups.map((calls) => {
    const sum = new CostSum();
    for (const call of calls)
      sum.add(call, call.model === null ? undefined : book.priceAt(call.model, call.atMs));
    return sum.cost;
  });
}

/** The columns that the cost of an event depends on. */
export const pricedColumns = {
  type: events.type,
  name: events.name,
  startTimeMs: events.startTimeMs,
  inputTokens: events.inputTokens,
  outputTokens: events.outputTokens,
  cacheReadTokens: events.cacheReadTokens,
  cacheWriteTokens: events.cacheWriteTokens,
  usageParts: events.usageParts,
  priceClass: events.priceClass,
  reportedCost: events.reportedCost,
};
type PricedRow = Pick<typeof events.$inferSelect, keyof typeof pricedColumns>;

/** The costs of events, in their order: US dollars as exact decimals, null without tokens or a price. */
export async function costsOfEvents(
  database: Database,
  spaceId: string,
  rows: readonly PricedRow[],
): Promise<(string | null)[]> {
  const calls = rows.map((row) => (row.type === 'llm' ? [callOf(row)] : []));
  return (await costOfCalls(database, spaceId, calls)).map(({ cost }) => cost);
}

function callOf(row: PricedRow): Calls {
  return {
    model: row.name,
    atMs: row.startTimeMs,
    inputTokens: toAddend(row.inputTokens),
    outputTokens: toAddend(row.outputTokens),
    cacheReadTokens: toAddend(row.cacheReadTokens),
    cacheWriteTokens: toAddend(row.cacheWriteTokens),
    priceClass: row.priceClass,
    usageParts: row.usageParts,
    reportedCost: row.reportedCost,
  };
}

/** Bounds a number of tokens like the statistics do: a client may report any finite number. */
export function toAddend(tokens: number | null): number {
  return Math.max(-addedNumberMax, Math.min(tokens ?? 0, addedNumberMax));
}
