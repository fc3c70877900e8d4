import { addedNumberMax } from '../../../event/limits.ts';
import { pick } from '../../../platform/pick.ts';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import { type Cost, CostSum, type Usage } from '../../../store/prices/cost-sum.ts';
import { unitsOfCost } from '../../../store/prices/decimal.ts';
import { type AppliedPrice, openPriceBook, type PriceBook } from '../../../store/prices/price-book.ts';

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
  const book = await openBookOf(database, spaceId, groups.flat());
  return groups.map((calls) => {
    const sum = new CostSum();
    for (const call of calls) sum.add(call, priceOf(book, call));
    return sum.cost;
  });
}

function openBookOf(database: Database, spaceId: string, calls: readonly Calls[]): Promise<PriceBook> {
  const models = new Set<string>();
  for (const { model, inputTokens, outputTokens, usageParts } of calls)
    if (model !== null && (inputTokens + outputTokens > 0 || usageParts != null)) models.add(model);
  return openPriceBook(database, spaceId, [...models]);
}

function priceOf(book: PriceBook, { model, atMs }: Calls): AppliedPrice | undefined {
  return model === null ? undefined : book.priceAt(model, atMs);
}

/** The columns that the cost of an event depends on. */
export const pricedColumns = {
  ...pick(events, 'type', 'name', 'startTimeMs', 'usageParts', 'priceClass', 'reportedCost'),
  ...pick(events, 'inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'),
};
export type PricedRow = Pick<typeof events.$inferSelect, keyof typeof pricedColumns>;

/** The cost of an event, and whether that which the sender reported differs from the price. */
interface EventCost extends Pick<Cost, 'cost' | 'bound'> {
  differs: boolean;
}

/** The costs of events, in their order. */
export async function costsOfEvents(
  database: Database,
  spaceId: string,
  rows: readonly PricedRow[],
): Promise<EventCost[]> {
  const calls = rows.map((row) => (row.type === 'llm' ? callOf(row) : undefined));
  const book = await openBookOf(
    database,
    spaceId,
    calls.filter((call) => call !== undefined),
  );
  return calls.map((call) => {
    const sum = new CostSum();
    const price = call && priceOf(book, call);
    if (call !== undefined) sum.add(call, price);
    const { cost, bound } = sum.cost;
    return { cost, bound, differs: call !== undefined && differsFromPrice(call, price) };
  });
}

/**
 * Whether the cost that the sender reported is more than 1 % from that at the price. A price that gives only
 * a bound is compared in that direction.
 */
export function differsFromPrice(call: Usage, price: AppliedPrice | undefined): boolean {
  if (call.reportedCost == null) return false;
  const sum = new CostSum();
  sum.add({ ...call, reportedCost: null }, price);
  const { cost, bound } = sum.cost;
  if (cost === null) return false;
  const [reported, priced] = [unitsOfCost(call.reportedCost), unitsOfCost(cost)];
  const tolerance = priced / 100n;
  const isLess = reported < priced - tolerance && (bound === 'exact' || bound === 'at_least');
  const isMore = reported > priced + tolerance && (bound === 'exact' || bound === 'at_most');
  return isLess || isMore;
}

export function callOf(row: PricedRow): Calls {
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
