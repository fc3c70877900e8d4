import { type AppliedPrice, openPriceBook } from '../../../store/prices/price-book.ts';
import { costModelsMax } from '../limits.ts';
import { visitInSlices } from '../slices.ts';
import type { SpaceRows } from '../space-data.ts';
import { type Cell, type CellQuery, rankGroups, readCellsInParts } from './read-cells.ts';

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
  const group = 'model' as const;
  const read = {
    boundaries,
    group,
    filter,
    groupsMax: costModelsMax,
    withDurations: false,
    withSlices: true,
  };
  const names = await rankGroups(database, spaceId, read);
  const book = await openPriceBook(database, spaceId, names);
  const ranks = new Map(names.map((name, rank) => [name, rank]));
  for await (const cells of readCellsInParts(database, spaceId, { ...read, names }))
    await visitInSlices(cells, (cell) => {
      if (cell.group === null) return visit(cell, { price: undefined, rank: Number.POSITIVE_INFINITY });
      const price = book.priceAt(cell.group, boundaries[cell.bucket] ?? 0);
      visit(cell, { price, rank: ranks.get(cell.group) ?? 0 });
    });
}
