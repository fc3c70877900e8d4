import { z } from 'zod';
import { addStatistics, CostSum } from '../../../store/prices/cost-sum.ts';
import { type AppliedPrice, readPriceChanges } from '../../../store/prices/price-book.ts';
import { mapInSlices } from '../slices.ts';
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
  await visitPricedCells({ database, spaceId }, { boundaries: parts, filter: { source } }, (cell, priced) =>
    sums.add(cell, { ...priced, bucket: bucketOfPart[cell.bucket] ?? 0 }),
  );
  return { starts: boundaries.slice(0, -1), end: toMs, ...(await sums.show()) };
}

/** The bucket of each part. */
function numberBuckets(parts: readonly number[], boundaries: ReadonlySet<number>): number[] {
  let bucket = -1;
  return parts.map((start) => (boundaries.has(start) ? ++bucket : bucket));
}

/** The costs of one model, or of those after the first thousand. */
interface ModelSum {
  readonly rank: number;
  readonly sum: CostSum;
  readonly points: Map<number, CostSum>;
}

/** Adds up the costs of a chart in one pass over its cells: each is priced once. */
class ModelSums {
  readonly #pointsOfMax: number;
  readonly #models = new Map<string | null, ModelSum>();

  /** @param pointsOfMax number of models with points of their own: those with the most events. */
  constructor(pointsOfMax: number) {
    this.#pointsOfMax = pointsOfMax;
  }

  add(
    cell: Cell,
    { price, rank, bucket }: { price: AppliedPrice | undefined; rank: number; bucket: number },
  ): void {
    const own = new CostSum();
    addStatistics(own, cell, price);
    const { points } = rank < this.#pointsOfMax ? this.#of(cell.group, rank) : this.#of(null, Infinity);
    const point = points.get(bucket) ?? new CostSum();
    points.set(bucket, point);
    this.#of(cell.group, rank).sum.addSum(own);
    point.addSum(own);
  }

  async show(): Promise<Pick<Costs, 'total' | 'models'>> {
    const ranked = [...this.#models].toSorted(([, a], [, b]) => a.rank - b.rank);
    const total = new CostSum();
    const models: Costs['models'] = [];
    for (const [model, { sum, points }] of ranked) {
      total.addSum(sum);
      const shown = await mapInSlices(points, ([bucket, one]) => ({ bucket, ...one.cost }));
      models.push({ model, ...sum.cost, points: shown.toSorted((a, b) => a.bucket - b.bucket) });
    }
    return { total: total.cost, models };
  }

  #of(model: string | null, rank: number): ModelSum {
    const found = this.#models.get(model) ?? { rank, sum: new CostSum(), points: new Map() };
    this.#models.set(model, found);
    return found;
  }
}
