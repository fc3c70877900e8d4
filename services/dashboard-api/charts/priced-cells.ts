import { type AppliedPrice, openPriceBook } from '../../../store/prices/price-book.ts';
import { costCellsAtOnce, costModelsMax } from '../limits.ts';
import { visitInSlices } from '../slices.ts';
import type { SpaceRows } from '../space-data.ts';
import { type Cell, type CellQuery, type NamedCellQuery, rankGroups, readCellsOf } from './read-cells.ts';

interface PricedModel {
  readonly price: AppliedPrice | undefined;
  readonly rank: number;
}

/**
 * Calls `visit` for each bucket of each model with the price at the bucket's start and the rank of the model by its number of events, from
 * 0. All models after the first thousand are one, null, without a price and a rank.
 *
 * Holds a bounded number of cells, and never the event loop for long, however many models and buckets there are.
 */
export async function visitPricedCells(
  { database, spaceId }: SpaceRows,
  { boundaries, filter }: Pick<CellQuery, 'boundaries' | 'filter'>,
  visit: (cell: Cell, priced: PricedModel) => void,
): Promise<void> {
  const read = { boundaries, group: 'model' as const, filter, withDurations: false, withSlices: true };
  const ranked = await rankGroups(database, spaceId, { ...read, groupsMax: costModelsMax + 1 });
  const models = ranked.slice(0, costModelsMax);
  const names = models.map(({ group }) => group);
  const book = await openPriceBook(database, spaceId, names);
  const ranks = new Map(names.map((name, rank) => [name, rank]));
  const reads: Pick<NamedCellQuery, 'names' | 'which'>[] = divideModels(models, boundaries.length - 1);
  if (ranked.length > models.length) reads.push({ names, which: 'others' });
  for (const which of reads) {
    const cells = await readCellsOf(database, spaceId, { ...read, ...which });
    await visitInSlices(cells, (cell) => {
      if (cell.group === null) return visit(cell, { price: undefined, rank: Number.POSITIVE_INFINITY });
      const price = book.priceAt(cell.group, boundaries[cell.bucket] ?? 0);
      visit(cell, { price, rank: ranks.get(cell.group) ?? 0 });
    });
  }
}

/** Divides the models so that a statement returns at most {@link costCellsAtOnce} cells, or those of one model. */
function divideModels(
  models: readonly { group: string; events: number }[],
  bucketCount: number,
): { names: string[]; which: 'named' }[] {
  const reads: { names: string[]; which: 'named' }[] = [];
  let cells = Number.POSITIVE_INFINITY;
  for (const { group, events } of models) {
    const own = Math.min(bucketCount, events);
    cells += own;
    if (cells > costCellsAtOnce) {
      reads.push({ names: [], which: 'named' });
      cells = own;
    }
    reads.at(-1)?.names.push(group);
  }
  return reads;
}
