import { z } from 'zod';
import { CostSum } from '../../../store/prices/cost-sum.ts';
import { type AppliedPrice, readPriceChanges } from '../../../store/prices/price-book.ts';
import type { SpaceRows } from '../space-data.ts';
import { groupsWithin } from './chart.ts';
import { visitPricedCells } from './priced-cells.ts';
import type { Cell } from './read-cells.ts';
import { type ChartRange, timeBoundaries } from './time-buckets.ts';
import { cost } from './token-prices.ts';

export interface CostQuery extends ChartRange {
  source?: string | undefined;
}

const modelCost = cost
  .extend({
    model: z.string().nullable(),
    points: z.array(cost.extend({ bucket: z.number() }).meta({ id: 'CostPoint' })),
  })
  .meta({ id: 'ModelCost' });

export const costs = z
  .object({
    /** Starts of the buckets, in milliseconds since the epoch. The range is widened to whole buckets. */
    starts: z.array(z.number()),
    end: z.number(),
    total: cost,
    /**
     * Models by descending number of events. A null name is all models after the first thousand, which have no price. In a chart of many
     * buckets only the first models have points: the points of the null name are those of all the others.
     */
    models: z.array(modelCost),
  })
  .meta({ id: 'Costs' });
export type Costs = z.infer<typeof costs>;

/** The costs of models, from statistics and the prices of each UTC day (store/prices/price-book.ts). */
export async function readCosts({ database, spaceId }: SpaceRows, query: CostQuery): Promise<Costs> {
  const { source, ...range } = query;
  const boundaries = timeBoundaries(range);
  const [fromMs = 0, toMs = 0] = [boundaries[0], boundaries.at(-1)];
  // A bucket in which a price changes is read in two parts.
  const changes = await readPriceChanges(database, spaceId, { fromMs, toMs });
  const parts = [...new Set([...boundaries, ...changes])].toSorted((a, b) => a - b);
  const bucketOfPart = numberBuckets(parts, new Set(boundaries));
  const sums = new ModelSums(groupsWithin(boundaries));
  await visitPricedCells({ database, spaceId }, { boundaries: parts, filter: { source } }, (cell, price) =>
    sums.add(cell, { price, bucket: bucketOfPart[cell.bucket] ?? 0 }),
  );
  return { starts: boundaries.slice(0, -1), end: toMs, ...sums.show() };
}

/** The bucket of each part. */
function numberBuckets(parts: readonly number[], boundaries: ReadonlySet<number>): number[] {
  let bucket = -1;
  return parts.map((start) => (boundaries.has(start) ? ++bucket : bucket));
}

/** The costs of each model; null stands for the models after the first thousand. */
class ModelSums {
  readonly #pointsOfMax: number;
  readonly #total = new CostSum();
  readonly #models = new Map<string | null, CostSum>();
  readonly #points = new Map<string | null, Map<number, CostSum>>();

  /** @param pointsOfMax number of models with points of their own: those that are added first. */
  constructor(pointsOfMax: number) {
    this.#pointsOfMax = pointsOfMax;
  }

  /** Adds a cell, in one pass: each is priced once. */
  add(cell: Cell, { price, bucket }: { price: AppliedPrice | undefined; bucket: number }): void {
    const own = new CostSum();
    own.add(cell, price);
    const hasPoints = this.#points.has(cell.group) || this.#models.size < this.#pointsOfMax;
    const points = sumOf(this.#points, hasPoints ? cell.group : null, () => new Map());
    for (const sum of [
      this.#total,
      sumOf(this.#models, cell.group, () => new CostSum()),
      sumOf(points, bucket, () => new CostSum()),
    ])
      sum.addSum(own);
  }

  show(): Pick<Costs, 'total' | 'models'> {
    const names = new Set([...this.#models.keys(), ...this.#points.keys()]);
    const shown = Array.from(names, (model) => ({
      model,
      ...(this.#models.get(model) ?? new CostSum()).cost,
      points: Array.from(this.#points.get(model) ?? [], ([bucket, sum]) => ({ bucket, ...sum.cost })),
    }));
    return { total: this.#total.cost, models: shown };
  }
}

function sumOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
