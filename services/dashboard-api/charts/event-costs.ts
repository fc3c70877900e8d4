import { addedNumberMax } from '../../../event/limits.ts';
import type { Database } from '../../../store/db/database.ts';
import type { events } from '../../../store/db/schema.ts';
import { openPriceBook } from '../../../store/prices/price-book.ts';
import { type Cost, priceTokens, showCost, type TokenCounts } from './token-prices.ts';

/** The columns that the cost of an event depends on. */
type PricedRow = Pick<
  typeof events.$inferSelect,
  'type' | 'name' | 'startTimeMs' | 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'
>;

/** The tokens of calls of one model on one UTC day. */
interface Calls extends TokenCounts {
  model: string | null;
  /** The start of one of the calls. */
  atMs: number;
}

/** The costs of events, in their order: US dollars as exact decimals, null without tokens or a price. */
export async function costsOfEvents(
  database: Database,
  spaceId: string,
  rows: readonly PricedRow[],
): Promise<(string | null)[]> {
  const costs = await costOfCalls(
    database,
    spaceId,
    rows.map((row) => (row.type === 'llm' ? [callOf(row)] : [])),
  );
  return costs.map(({ cost }) => cost);
}

/** The cost of each group of calls, at the prices of their days. Without tokens there is no query. */
export async function costOfCalls(
  database: Database,
  spaceId: string,
  groups: readonly (readonly Calls[])[],
): Promise<Cost[]> {
  const hasTokens = groups.some((calls) =>
    calls.some(({ inputTokens, outputTokens }) => inputTokens + outputTokens > 0),
  );
  if (!hasTokens) return groups.map(() => showCost([]));
  const models = new Set(groups.flatMap((calls) => calls.flatMap(({ model }) => model ?? [])));
  const priceOf = await openPriceBook(database, spaceId, [...models]);
  return groups.map((calls) =>
    showCost(
      calls.map(({ model, atMs, ...counts }) =>
        priceTokens(counts, model === null ? undefined : priceOf(model, atMs)),
      ),
    ),
  );
}

function callOf({
  name,
  startTimeMs,
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
}: PricedRow): Calls {
  return {
    model: name,
    atMs: startTimeMs,
    inputTokens: toAddend(inputTokens),
    outputTokens: toAddend(outputTokens),
    cacheReadTokens: toAddend(cacheReadTokens),
    cacheWriteTokens: toAddend(cacheWriteTokens),
  };
}

/** With the bounds of the statistics: a client may report any finite number of tokens. */
function toAddend(tokens: number | null): number {
  return Math.max(-addedNumberMax, Math.min(tokens ?? 0, addedNumberMax));
}
