import { type AppliedPrice, openPriceBook } from '../../../store/prices/price-book.ts';
import { visitInSlices } from '../slices.ts';
import type { SpaceRows } from '../space-data.ts';
import type { ChartGroup } from './dimension.ts';
import { type Cell, rankGroups, readCellsInParts } from './read-cells.ts';
import type { SpanQuery } from './stat-spans.ts';

/** Models whose costs are listed: more than any space uses. */
export const costModelsMax = 1_000;

/**
 * Calls `visit` for each bucket of each model with the price at the bucket's start and the rank of the model
 * by its number of events, from 0. All models after the first thousand are one, null, without a price and a
 * rank. With another group it calls it for each group and model; the rank is that of the group.
 *
 * Holds a bounded number of cells, and never the event loop for long, however many models and buckets there
 * are.
 */
export async function visitPricedCells(
  { database, spaceId }: SpaceRows,
  { group = 'model', ...query }: Omit<SpanQuery, 'group' | 'byModel'> & { readonly group?: ChartGroup },
  visit: (cell: Cell, priced: { price: AppliedPrice | undefined; rank: number }) => void,
): Promise<void> {
  const byModel = group !== 'model';
  const whole = { ...query, group, byModel, groupsMax: costModelsMax };
  const read = { ...whole, withSlices: true };
  const names = await rankGroups(database, spaceId, whole);
  const models = byModel ? await rankGroups(database, spaceId, { ...whole, group: 'model' }) : names;
  const book = await openPriceBook(database, spaceId, models);
  const ranks = new Map(names.map((name, rank) => [name, rank]));
  for await (const cells of readCellsInParts(database, spaceId, { ...read, names }))
    await visitInSlices(cells, (cell) => {
      const model = byModel ? cell.model : cell.group;
      const price = model == null ? undefined : book.priceAt(model, query.boundaries[cell.bucket] ?? 0);
      visit(cell, {
        price,
        rank: cell.group === null ? Number.POSITIVE_INFINITY : (ranks.get(cell.group) ?? 0),
      });
    });
}
