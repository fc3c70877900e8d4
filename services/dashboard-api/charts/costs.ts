import { z } from 'zod';
import type { Database } from '../../../lib/db/database.ts';
import { costOf, formatCost } from '../../../lib/prices/decimal.ts';
import { type ListedPrice, listPrices } from '../../../lib/prices/prices.ts';
import { costModelsMax } from '../limits.ts';
import { type Cell, readCells } from './read-cells.ts';
import { type ChartRange, timeBoundaries } from './time-buckets.ts';

export interface CostQuery extends ChartRange {
  source?: string | undefined;
}

/** What tokens cost. Tokens without a price are in no cost: `pricedTokens` of `tokens` have one. */
const cost = z
  .object({
    /** US dollars, an exact decimal; null when no token has a price. */
    cost: z.string().nullable(),
    /** Input and output tokens that have a price. */
    pricedTokens: z.number(),
    /** All input and output tokens. */
    tokens: z.number(),
  })
  .meta({ id: 'Cost' });
export type Cost = z.infer<typeof cost>;

const modelCost = cost
  .extend({
    model: z.string().nullable(),
    points: z.array(cost.extend({ bucket: z.number() }).meta({ id: 'CostPoint' })),
  })
  .meta({ id: 'ModelCost' });

export const costs = z
  .object({
    /** Where the buckets begin, in milliseconds since the epoch. The range is widened to whole buckets. */
    starts: z.array(z.number()),
    end: z.number(),
    total: cost,
    /** The models with the most events first. A null stands for all models after the first thousand. */
    models: z.array(modelCost),
  })
  .meta({ id: 'Costs' });
export type Costs = z.infer<typeof costs>;

/** What models cost, from statistics and the prices of the day (UTC). A space's own prices of a model replace those for all. */
export async function readCosts(
  database: Database,
  spaceId: string,
  { source, ...range }: CostQuery,
): Promise<Costs> {
  const boundaries = timeBoundaries(range);
  const prices = Map.groupBy(await listPrices(database, spaceId), ({ model }) => model);
  // A bucket during which a price changes is read in two parts.
  const parts = splitAtChanges(boundaries, [...prices.values()].flat());
  const cells = await readCells(database, spaceId, {
    boundaries: parts,
    group: 'model',
    filter: { source },
    groupsMax: costModelsMax,
    withDurations: false,
  });
  const starts = boundaries.slice(0, -1);
  const priced = cells.map((cell) => {
    const atMs = parts[cell.bucket] ?? 0;
    const bucket = starts.findLastIndex((start) => start <= atMs);
    const price = cell.group === null ? undefined : priceOn(prices.get(cell.group) ?? [], atMs);
    return { model: cell.group, bucket, ...priceCell(cell, price) };
  });
  const models = [...Map.groupBy(priced, ({ model }) => model)].map(([model, own]) => ({
    model,
    ...showCost(own),
    points: [...Map.groupBy(own, ({ bucket }) => bucket)].map(([bucket, some]) => ({
      bucket,
      ...showCost(some),
    })),
  }));
  return { starts, end: boundaries.at(-1) ?? range.to, total: showCost(priced), models };
}

/** The boundaries, and between them the first instants of days on which a price changes. */
function splitAtChanges(boundaries: readonly number[], prices: readonly ListedPrice[]): number[] {
  const [first = 0, last = 0] = [boundaries[0], boundaries.at(-1)];
  const changes = prices.map(({ validFrom }) => dayOf(validFrom)).filter((at) => at > first && at < last);
  return [...new Set([...boundaries, ...changes])].toSorted((a, b) => a - b);
}

/** The price of a model at a time: the latest of the space's own, or without one of those for all spaces. */
function priceOn(prices: readonly ListedPrice[], atMs: number): ListedPrice | undefined {
  const valid = prices
    .filter(({ validFrom }) => dayOf(validFrom) <= atMs)
    .toSorted((a, b) => (a.validFrom < b.validFrom ? -1 : 1));
  return valid.findLast(({ spaceId }) => spaceId !== null) ?? valid.at(-1);
}

interface PricedTokens {
  readonly units: bigint;
  readonly pricedTokens: number;
  readonly tokens: number;
}

/** Input tokens include those of caches, and output tokens those of reasoning. */
function priceCell(cell: Cell, price: ListedPrice | undefined): PricedTokens {
  const cacheRead = wholeTokens(cell.cacheReadTokens);
  const cacheWrite = wholeTokens(cell.cacheWriteTokens);
  const input = wholeTokens(cell.inputTokens);
  const output = wholeTokens(cell.outputTokens);
  // Clients may say that more tokens were cached than read.
  const uncached = Math.max(0, input - cacheRead - cacheWrite);
  const kinds = [
    [uncached, price?.input],
    [Math.min(cacheRead, input), price?.cacheRead],
    [Math.min(cacheWrite, Math.max(0, input - cacheRead)), price?.cacheWrite],
    [output, price?.output],
  ] as const;
  const priced = kinds.filter(([, one]) => one !== undefined && one !== null);
  return {
    units: priced.reduce((sum, [tokens, one]) => sum + costOf(BigInt(tokens), one ?? '0'), 0n),
    pricedTokens: priced.reduce((sum, [tokens]) => sum + tokens, 0),
    tokens: input + output,
  };
}

/** A client may claim fractions of tokens, and fewer than none. */
function wholeTokens(tokens: number): number {
  return Math.max(0, Math.round(tokens));
}

function showCost(parts: readonly PricedTokens[]): Cost {
  const pricedTokens = parts.reduce((sum, part) => sum + part.pricedTokens, 0);
  const units = parts.reduce((sum, part) => sum + part.units, 0n);
  return {
    cost: pricedTokens === 0 ? null : formatCost(units),
    pricedTokens,
    tokens: parts.reduce((sum, part) => sum + part.tokens, 0),
  };
}

function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
