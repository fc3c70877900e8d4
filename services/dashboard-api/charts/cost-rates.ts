import { type UsagePart, usagePartNames, usageParts } from '../../../event/usage/usage-parts.ts';
import { timeMsMax } from '../../../platform/limits.ts';
import { dayMs, hourMs } from '../../../platform/time.ts';
import type { Slice } from '../../../store/prices/cost-sum.ts';
import { openPriceBook } from '../../../store/prices/price-book.ts';
import type { ClassPrices, PricedKind } from '../../../store/prices/rates.ts';
import type { CostRate } from '../../../store/read/compare/comparisons.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { withNotedEvents } from '../../../store/read/noted-events.ts';
import { refusal } from '../refusal.ts';
import type { SpaceRows } from '../space-data.ts';
import { readCells } from './read-cells.ts';

/** Longest range for comparing costs: the prices of all models that were used in it are looked up. */
const costRangeDaysMax = 92;

/** Models whose costs are compared. Each event's model is looked for among them. */
const costRateModelsMax = 200;

/**
 * Adds what a read needs to a filter: where conditions on notes find events, and, if it compares costs, the
 * prices of the models that were used in its range.
 * @throws TRPCError BAD_REQUEST when the range is open or too long, or has too many models.
 */
export async function completeFilter<Filter extends EventFilter>(
  space: SpaceRows,
  asked: Filter,
): Promise<Filter> {
  const filter = await withNotedEvents(space.database, space.spaceId, asked);
  if (!comparesCosts(filter)) return filter;
  const { from, to = Math.max(Date.now(), from ?? 0) + dayMs } = filter;
  if (from === undefined || to - from > (costRangeDaysMax + 1) * dayMs) {
    const message = `comparisons: costs are compared in a range of at most ${costRangeDaysMax} days. Choose a range.`;
    throw refusal('BAD_REQUEST', message);
  }
  return { ...filter, costRates: await readRates(space, { from, to }) };
}

/**
 * Adds the prices to the filter of a live stream that compares costs: those of the models of the last days. A
 * model that is first used later has no cost until the stream is opened again.
 */
export async function withRecentRates<Filter extends EventFilter>(
  space: SpaceRows,
  filter: Filter,
): Promise<Filter> {
  if (!comparesCosts(filter)) return filter;
  const to = Date.now() + dayMs;
  return { ...filter, costRates: await readRates(space, { from: to - costRangeDaysMax * dayMs, to }) };
}

function comparesCosts({ comparisons = [] }: EventFilter): boolean {
  return comparisons.some(({ measure }) => measure === 'cost');
}

async function readRates(
  { database, spaceId }: SpaceRows,
  { from, to }: { from: number; to: number },
): Promise<CostRate[]> {
  const boundaries = [Math.floor(from / hourMs) * hourMs, Math.ceil(to / hourMs) * hourMs];
  const cells = await readCells(database, spaceId, {
    boundaries,
    group: 'model',
    filter: {},
    groupsMax: costRateModelsMax,
    withSlices: true,
  });
  if (cells.some(({ group }) => group === null)) {
    const message = `comparisons: the range has more than ${costRateModelsMax} models. Choose a shorter one to compare costs.`;
    throw refusal('BAD_REQUEST', message);
  }
  const classes = new Map(
    cells.map(({ group, slices = [] }) => [group ?? '', new Set(['', ...slices.map(classOf)])]),
  );
  const models = [...classes.keys()];
  const book = await openPriceBook(database, spaceId, models);
  return models.flatMap((model) => {
    const periods = book.periodsOf(model);
    return periods.flatMap(({ fromMs, price }, place): CostRate[] => {
      const toMs = periods[place + 1]?.fromMs ?? timeMsMax + 1;
      if (toMs <= from || fromMs >= to) return [];
      return Array.from(classes.get(model) ?? [], (priceClass) => ({
        ...{ model, fromMs, toMs, priceClass },
        ...ratesOf(price.parsed.of(priceClass)),
      }));
    });
  });
}

/** The price class of a slice, without the name of a part, in which rows of parts end. */
function classOf({ priceClass }: Slice): string {
  return priceClass.split('+')[0] ?? '';
}

function ratesOf(
  prices: ClassPrices,
): Pick<CostRate, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'parts'> {
  const text = (kind: PricedKind) => String(prices[kind].units);
  const parts = {} as Record<UsagePart, string>;
  for (const part of usagePartNames) {
    const whole = usageParts[part];
    parts[part] = String(prices[part].units - (whole === undefined ? 0n : prices[whole].units));
  }
  return {
    input: text('input'),
    output: text('output'),
    cacheRead: text('cacheRead'),
    cacheWrite: text('cacheWrite'),
    parts,
  };
}
