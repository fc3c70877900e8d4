import { and, asc, eq, isNull, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { asStored, quoteElement } from '../../event/text.ts';
import { type Actor, auditChange, runAudited } from '../accounts/audit/audit.ts';
import type { Database, Transaction } from '../db/database.ts';
import { modelPrices } from '../db/schema.ts';
import { insertBelow, listOf, namesOf, replaced } from '../db/statement.ts';
import { candidateNames } from './model-names.ts';
import { priceTable } from './rates.ts';

/** A price of a model from a day on, and the space that it applies to. */
export const listedPrice = z
  .object({
    /** Null: the price applies to every space without its own price for the model. */
    spaceId: z.guid().nullable(),
    model: z.string(),
    /** The first UTC day of the price. */
    validFrom: z.iso.date(),
    ...priceTable.shape,
  })
  .meta({ id: 'ListedPrice' });
export type ListedPrice = z.infer<typeof listedPrice>;
export type ModelPrice = Omit<ListedPrice, 'spaceId'>;

/** The scope and the actor of a change. */
export interface PriceChange {
  /** Null: the price for all spaces, which the operator sets. */
  readonly spaceId: string | null;
  readonly actor: Actor;
}

/** Most prices of one space's own. A model's prices are sorted for each chart, list and filter with costs. */
export const spacePricesMax = 5_000;

/**
 * The prices for a space, or with null those for all, by model and day. @param models only those that may be
 * of these.
 */
export async function listPrices(
  database: Database,
  ofSpace: string | null,
  models?: readonly string[],
): Promise<ListedPrice[]> {
  const { spaceId, model, validFrom, input, output, cacheRead, cacheWrite, rates } = modelPrices;
  return await database
    .select({ spaceId, model, validFrom, input, output, cacheRead, cacheWrite, rates })
    .from(modelPrices)
    .where(and(appliesTo(ofSpace), models && isFor(models)))
    .orderBy(asc(model), asc(validFrom), asc(spaceId));
}

/** Under any of the names by which a price is found for a model, in any case. */
function isFor(models: readonly string[]): SQL | undefined {
  const { model } = modelPrices;
  const names = [...new Set(models.flatMap(candidateNames))];
  // As arrays, which Postgres looks up in a hash table: a thousand models have ten thousand names.
  const isOneOf = (some: readonly string[]) => sql`ANY (${`{${some.map(quoteElement).join(',')}}`}::text[])`;
  return or(sql`${model} = ${isOneOf(models)}`, sql`lower(${model}) = ${isOneOf(names)}`);
}

export function appliesTo(ofSpace: string | null): SQL | undefined {
  const { spaceId } = modelPrices;
  return ofSpace === null ? isNull(spaceId) : or(isNull(spaceId), eq(spaceId, ofSpace));
}

/**
 * Sets the price of a model from a day on. A change for all spaces is logged in the operator's audit log.
 * @returns false when the space has {@link spacePricesMax} prices: then only those can be replaced. Calls at
 * the same time do not count each other's price: where the limit must be exact, they take turns.
 */
export async function setPrice(
  database: Database | Transaction,
  change: PriceChange,
  price: ModelPrice,
): Promise<boolean> {
  const { spaceId, model, validFrom, input, output, cacheRead, cacheWrite, rates } = modelPrices;
  const values = { ...price, model: asStored(price.model), spaceId: change.spaceId };
  const key = and(eq(model, values.model), eq(validFrom, values.validFrom));
  const others = sql`SELECT count(*) FROM ${modelPrices} WHERE ${spaceId} = ${change.spaceId}::uuid AND NOT (${key})`;
  const changed = database.$with('changed', { spaceId }).as(sql`
    ${insertBelow(modelPrices, values, { counted: others, max: spacePricesMax })}
    ON CONFLICT (${namesOf([spaceId, model, validFrom])}) DO UPDATE SET
      ${listOf([input, output, cacheRead, cacheWrite, rates].map(replaced))}
    RETURNING ${namesOf([spaceId])}`);
  const entry = { spaceId: changed.spaceId, actor: change.actor, action: 'price.set', details: { ...price } };
  return (await runAudited(database, changed, entry)).length > 0;
}

/** Removes a price. @returns whether there was one. */
export async function removePrice(
  database: Database,
  change: PriceChange,
  price: Pick<ModelPrice, 'model' | 'validFrom'>,
): Promise<boolean> {
  const { spaceId, model, validFrom } = modelPrices;
  const removal = database
    .delete(modelPrices)
    .where(
      and(
        change.spaceId === null ? isNull(spaceId) : eq(spaceId, change.spaceId),
        eq(model, asStored(price.model)),
        eq(validFrom, price.validFrom),
      ),
    )
    .returning({ spaceId });
  const entry = { actor: change.actor, action: 'price.remove', details: { ...price } };
  return (await auditChange(database, removal, entry)).length > 0;
}
