import { type AppliedPrice, openPriceBook } from '../../../store/prices/price-book.ts';
import { costCellsAtOnce, costModelsMax } from '../limits.ts';
import { visitInSlices } from '../slices.ts';
import type { SpaceRows } from '../space-data.ts';
import { type Cell, type CellQuery, type NamedCellQuery, rankGroups, readCellsOf } from './read-cells.ts';

/**
 * Calls `visit` for each bucket of each model with the price at the bucket's start: models with the most events first, the buckets of each
 * in time order. All models after the first thousand are one, null, without a price.
 *
 * Holds a bounded number of cells, and never the event loop for long, however many models and buckets there are.
 */
export async function visitPricedCells(
  { database, spaceId }: SpaceRows,
  { boundaries, filter }: Pick<CellQuery, 'boundaries' | 'filter'>,
  visit: (cell: Cell, price: AppliedPrice | undefined) => void,
): Promise<void> {
  const read = { boundaries, group: 'model' as const, filter, withDurations: false };
  const ranked = await rankGroups(database, spaceId, { ...read, groupsMax: costModelsMax + 1 });
  const models = ranked.slice(0, costModelsMax);
  const names = models.map(({ group }) => group);
  const book = await openPriceBook(database, spaceId, names);
  const places = new Map(names.map((name, place) => [name, place]));
  const reads: Pick<NamedCellQuery, 'names' | 'which'>[] = divideModels(models, boundaries.length - 1);
  if (ranked.length > models.length) reads.push({ names, which: 'others' });
  for (const which of reads) {
    const cells = await readCellsOf(database, spaceId, { ...read, ...which });
    const placeOf = ({ group }: Cell) => places.get(group ?? '') ?? 0;
    await visitInSlices(
      cells.toSorted((a, b) => placeOf(a) - placeOf(b)),
      (cell) => {
        const atMs = boundaries[cell.bucket] ?? 0;
        visit(cell, cell.group === null ? undefined : book.priceAt(cell.group, atMs));
      },
    );
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
