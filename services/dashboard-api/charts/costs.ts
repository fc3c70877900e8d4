import { z } from 'zod';
import { addStatistics, type CostKind, CostSum, cost, costKinds } from '../../../store/prices/cost-sum.ts';
import { formatCost } from '../../../store/prices/decimal.ts';
import { type AppliedPrice, readPriceChanges } from '../../../store/prices/price-book.ts';
import { mapInSlices } from '../slices.ts';
import type { SpaceRows } from '../space-data.ts';
import { type ChartQuery, groupsWithin } from './chart.ts';
import { findDimension } from './dimension.ts';
import { visitPricedCells } from './priced-cells.ts';
import type { Cell } from './read-cells.ts';
import { timeBoundaries } from './time-buckets.ts';

const kindCost = z
  .object({
    /** What the cost is for; `reported`: the sender says what whole calls cost. */
    kind: z.enum(costKinds),
    /** Number of tokens or searches that have a price. */
    count: z.number(),
    /** US dollars, an exact decimal. */
    cost: z.string(),
  })
  .meta({ id: 'KindCost' });
type KindCost = z.infer<typeof kindCost>;

const modelCost = cost
  .extend({
    /** The model, or the value of another group. */
    model: z.string().nullable(),
    kinds: z.array(kindCost),
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
     * Models, or other groups, by descending number of events. A null name is all after the first thousand;
     * models among them have no price. In a chart of many buckets only the first ones have points: the points
     * of the null name are those of all the others.
     */
    models: z.array(modelCost),
    /** The costs of all models by what they are for: they add up to the total. */
    kinds: z.array(
      kindCost
        .extend({ points: z.array(kindCost.omit({ kind: true }).extend({ bucket: z.number() })) })
        .meta({ id: 'KindCosts' }),
    ),
  })
  .meta({ id: 'Costs' });
export type Costs = z.infer<typeof costs>;

/**
 * The costs of models or other groups, from statistics and the prices of each UTC day
 * (store/prices/price-book.ts).
 */
export async function readCosts(
  { database, spaceId }: SpaceRows,
  { groupBy: group, filter, ...range }: Omit<ChartQuery, 'groupsMax'>,
): Promise<Costs> {
  const boundaries = timeBoundaries(range);
  const [fromMs = 0, toMs = 0] = [boundaries[0], boundaries.at(-1)];
  // A bucket in which a price changes is read in two parts.
  const changes = await readPriceChanges(database, spaceId, { fromMs, toMs });
  const parts = [...new Set([...boundaries, ...changes])].toSorted((a, b) => a - b);
  const bucketOfPart = numberBuckets(parts, new Set(boundaries));
  const sums = new ModelSums(groupsWithin(boundaries));
  const dimension = await findDimension(database, spaceId, { group, filter, byModel: true });
  const read = { boundaries: parts, group, filter, dimension };
  await visitPricedCells({ database, spaceId }, read, (cell, priced) =>
    sums.add(cell, { ...priced, bucket: bucketOfPart[cell.bucket] ?? 0 }),
  );
  return { starts: boundaries.slice(0, -1), end: toMs, ...(await sums.show()) };
}

/** The bucket of each part. */
function numberBuckets(parts: readonly number[], boundaries: ReadonlySet<number>): number[] {
  let bucket = -1;
  return parts.map((start) => (boundaries.has(start) ? ++bucket : bucket));
}

/** The costs of one model or group, or of those after the first thousand. */
interface ModelSum {
  readonly rank: number;
  readonly sum: CostSum;
  readonly points: Map<number, CostSum>;
  readonly kinds: KindSums;
}

/** Adds up the costs of a chart in one pass over its cells: each is priced once. */
class ModelSums {
  readonly #pointsOfMax: number;
  readonly #models = new Map<string | null, ModelSum>();
  readonly #kinds = new Map<number, KindSums>();

  /** @param pointsOfMax number of models with points of their own: those with the most events. */
  constructor(pointsOfMax: number) {
    this.#pointsOfMax = pointsOfMax;
  }

  add(
    cell: Cell,
    { price, rank, bucket }: { price: AppliedPrice | undefined; rank: number; bucket: number },
  ): void {
    const model = this.#of(cell.group, rank);
    const kinds = this.#kinds.get(bucket) ?? new KindSums();
    this.#kinds.set(bucket, kinds);
    const own = new CostSum((kind, amount) => {
      kinds.add(kind, amount);
      model.kinds.add(kind, amount);
    });
    addStatistics(own, cell, price);
    const { points } = rank < this.#pointsOfMax ? model : this.#of(null, Infinity);
    const point = points.get(bucket) ?? new CostSum();
    points.set(bucket, point);
    model.sum.addSum(own);
    point.addSum(own);
  }

  async show(): Promise<Pick<Costs, 'total' | 'models' | 'kinds'>> {
    const ranked = [...this.#models].toSorted(([, a], [, b]) => a.rank - b.rank);
    const [total, totalKinds] = [new CostSum(), new KindSums()];
    const models: Costs['models'] = [];
    for (const [model, { sum, points, kinds }] of ranked) {
      total.addSum(sum);
      const shown = await mapInSlices(points, ([bucket, one]) => ({ bucket, ...one.cost }));
      const inOrder = shown.toSorted((a, b) => a.bucket - b.bucket);
      models.push({ model, ...sum.cost, kinds: kinds.show(), points: inOrder });
      totalKinds.addAll(kinds);
    }
    const buckets = [...this.#kinds].toSorted(([a], [b]) => a - b);
    const points = buckets.flatMap(([bucket, kinds]) => kinds.show().map((one) => ({ bucket, ...one })));
    const pointsOf = Map.groupBy(points, ({ kind }) => kind);
    const kinds = totalKinds.show().map((sum) => ({
      ...sum,
      points: (pointsOf.get(sum.kind) ?? []).map(({ kind: _kind, ...point }) => point),
    }));
    return { total: total.cost, models, kinds };
  }

  #of(model: string | null, rank: number): ModelSum {
    const found = this.#models.get(model) ?? {
      ...{ rank, sum: new CostSum(), points: new Map(), kinds: new KindSums() },
    };
    this.#models.set(model, found);
    return found;
  }
}

interface Amount {
  count: number;
  units: bigint;
}

/** The costs of calls by what they are for. */
class KindSums {
  readonly #sums = new Map<CostKind, Amount>();

  add(kind: CostKind, { count, units }: Amount): void {
    const sum = this.#sums.get(kind);
    if (sum === undefined) {
      this.#sums.set(kind, { count, units });
      return;
    }
    sum.count += count;
    sum.units += units;
  }

  addAll(others: KindSums): void {
    for (const [kind, amount] of others.#sums) this.add(kind, amount);
  }

  show(): KindCost[] {
    return costKinds.flatMap((kind) => {
      const { count, units } = this.#sums.get(kind) ?? { count: 0, units: 0n };
      return count === 0 && units === 0n ? [] : [{ kind, count, cost: formatCost(units) }];
    });
  }
}
