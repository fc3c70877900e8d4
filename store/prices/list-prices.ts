import { asc, getTableColumns, inArray } from 'drizzle-orm';
import type { Database, Transaction } from '../db/database.ts';
import { listPrices } from '../db/schema.ts';
import { excludedOf } from '../db/statement.ts';
import { isSamePrice, type ListPrice } from './list-price.ts';
import { candidateNames, findByName } from './model-names.ts';
import type { PriceList } from './price-list.ts';
import type { ModelPrice } from './prices.ts';

/** The first day of a model's first list price: a list does not say since when a price holds. */
const allTime = '1970-01-01';

/** What an import changes. Unchanged prices, and those of an older list, are only counted. */
export interface ImportedPrices {
  /** Models without a list price before. The price holds for all time. */
  added: ListPrice[];
  /** Models whose price changed. The new price holds from the day of the list on. */
  changed: (ListPrice & { before: Omit<ListPrice, 'model'> })[];
  unchanged: number;
  older: number;
}

/** Stores the prices of a list. Models that it does not name keep their prices. Safe to repeat. */
export async function importListPrices(
  database: Database | Transaction,
  { source, day, prices }: PriceList,
): Promise<ImportedPrices> {
  const rows = await database.select().from(listPrices).orderBy(asc(listPrices.validFrom));
  const latest = new Map(rows.map((row) => [row.model, row]));
  const result: ImportedPrices = { added: [], changed: [], unchanged: 0, older: 0 };
  const written: (typeof listPrices.$inferInsert)[] = [];
  // Of a name that the list has twice, the last entry counts.
  for (const price of new Map(prices.map((one) => [one.model, one])).values()) {
    const stored = latest.get(price.model);
    if (stored === undefined) {
      result.added.push(price);
      written.push({ ...price, source, listedOn: day, validFrom: allTime });
    } else if (day < stored.listedOn) {
      result.older += 1;
    } else if (isSamePrice(price, stored)) {
      result.unchanged += 1;
      if (day > stored.listedOn) written.push({ ...stored, source, listedOn: day });
    } else {
      const { input, output, cacheRead, cacheWrite, rates, validFrom } = stored;
      result.changed.push({ ...price, before: { input, output, cacheRead, cacheWrite, rates } });
      // A second list of the same day corrects the first.
      const isCorrection = stored.listedOn === day;
      written.push({ ...price, source, listedOn: day, validFrom: isCorrection ? validFrom : day });
    }
  }
  if (written.length > 0) await upsert(database, written);
  return result;
}

async function upsert(
  database: Database | Transaction,
  rows: (typeof listPrices.$inferInsert)[],
): Promise<void> {
  const { model, validFrom, ...others } = getTableColumns(listPrices);
  await database
    .insert(listPrices)
    .values(rows)
    .onConflictDoUpdate({ target: [model, validFrom], set: excludedOf(others) });
}

/** A list price, with its source and the last day on which it was listed. */
export interface SourcedPrice extends ModelPrice {
  source: string;
  listedOn: string;
}

/** The list prices of each model, under the most exact of its names that has one, by ascending day. */
export async function readListPrices(
  database: Database,
  models: readonly string[],
): Promise<Map<string, SourcedPrice[]>> {
  const names = [...new Set(models.flatMap(candidateNames))];
  if (names.length === 0) return new Map();
  const rows = await database
    .select()
    .from(listPrices)
    .where(inArray(listPrices.model, names))
    .orderBy(asc(listPrices.validFrom));
  const byName = Map.groupBy(rows, ({ model }) => model);
  return new Map(models.map((model) => [model, findByName(byName, model) ?? []]));
}
