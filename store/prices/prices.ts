import { and, asc, eq, isNull, or } from 'drizzle-orm';
import { asStored } from '../../event/text.ts';
import { type Actor, runAudited } from '../accounts/audit/audit.ts';
import type { Database } from '../db/database.ts';
import { modelPrices } from '../db/schema.ts';

/** The price of a model's tokens from a day on: US dollars per million tokens, as exact decimals. */
export interface ModelPrice {
  model: string;
  /** The first day, UTC: `YYYY-MM-DD`. */
  validFrom: string;
  input: string;
  output: string;
  /** For input tokens that were read from a cache, or written to one. Null: no price. */
  cacheRead: string | null;
  cacheWrite: string | null;
}

/** A price, and the space that it applies to. */
export interface ListedPrice extends ModelPrice {
  /** Null: all spaces without a price of their own for the model. */
  spaceId: string | null;
}

/** The scope and the actor of a change. */
export interface PriceChange {
  /** Null: the price for all spaces, which the operator sets. */
  readonly spaceId: string | null;
  readonly actor: Actor;
}

/** The prices that apply to a space, or with null only those for all spaces, ordered by model and day. */
export async function listPrices(database: Database, ofSpace: string | null): Promise<ListedPrice[]> {
  const { spaceId, model, validFrom, input, output, cacheRead, cacheWrite } = modelPrices;
  return await database
    .select({ spaceId, model, validFrom, input, output, cacheRead, cacheWrite })
    .from(modelPrices)
    .where(ofSpace === null ? isNull(spaceId) : or(isNull(spaceId), eq(spaceId, ofSpace)))
    .orderBy(asc(model), asc(validFrom), asc(spaceId));
}

/** Sets the price of a model from a day on. A change for all spaces is logged in the operator's audit log. */
export async function setPrice(database: Database, change: PriceChange, price: ModelPrice): Promise<void> {
  const { input, output, cacheRead, cacheWrite } = price;
  const changed = database.$with('changed').as(
    database
      .insert(modelPrices)
      .values({ ...price, model: asStored(price.model), spaceId: change.spaceId })
      .onConflictDoUpdate({
        target: [modelPrices.spaceId, modelPrices.model, modelPrices.validFrom],
        set: { input, output, cacheRead, cacheWrite },
      })
      .returning({ spaceId: modelPrices.spaceId }),
  );
  const { spaceId } = changed;
  const entry = { spaceId, actor: change.actor, action: 'price.set', details: { ...price } };
  await runAudited(database, changed, entry);
}

/** Removes a price. @returns whether there was one. */
export async function removePrice(
  database: Database,
  change: PriceChange,
  price: Pick<ModelPrice, 'model' | 'validFrom'>,
): Promise<boolean> {
  const { spaceId, model, validFrom } = modelPrices;
  const changed = database.$with('changed').as(
    database
      .delete(modelPrices)
      .where(
        and(
          change.spaceId === null ? isNull(spaceId) : eq(spaceId, change.spaceId),
          eq(model, asStored(price.model)),
          eq(validFrom, price.validFrom),
        ),
      )
      .returning({ spaceId }),
  );
  const entry = {
    spaceId: changed.spaceId,
    actor: change.actor,
    action: 'price.remove',
    details: { ...price },
  };
  return (await runAudited(database, changed, entry)).length > 0;
}
