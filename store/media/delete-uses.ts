import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '../db/database.ts';
import { media, mediaUses } from '../db/schema.ts';

/** Deletes uses, and media that were used by these alone. @returns the ids of the media, and of the uses. */
export async function deleteUses(transaction: Transaction, spaceId: string, areGone: SQL | undefined) {
  const { mediaIds, useIds } = await deleteOnlyUses(transaction, spaceId, areGone);
  return { mediaIds: await deleteUnused(transaction, spaceId, mediaIds), useIds };
}

/** @returns the ids of the uses, and of the media that they used. */
export async function deleteOnlyUses(transaction: Transaction, spaceId: string, areGone: SQL | undefined) {
  const uses = await transaction
    .select({ id: mediaUses.id, mediaId: mediaUses.mediaId })
    .from(mediaUses)
    .where(and(eq(mediaUses.spaceId, spaceId), areGone));
  const useIds = uses.map(({ id }) => id);
  const mediaIds = [...new Set(uses.map(({ mediaId }) => mediaId))];
  if (uses.length === 0) return { mediaIds, useIds };
  const areOf = await lock(transaction, spaceId, mediaIds);
  await transaction
    .delete(mediaUses)
    .where(and(eq(mediaUses.spaceId, spaceId), sql`${mediaUses.id} = ANY (${`{${useIds.join()}}`}::uuid[])`));
  const lastUse = lastUseIn(spaceId);
  // They expire with the uses that are left.
  await transaction
    .update(media)
    .set({ receivedAt: lastUse })
    .where(and(areOf, isNotNull(lastUse)));
  return { mediaIds, useIds };
}

/** Deletes those of the media that have no use. @returns their ids. */
export async function deleteUnused(
  transaction: Transaction,
  spaceId: string,
  mediaIds: readonly string[],
): Promise<string[]> {
  if (mediaIds.length === 0) return [];
  const areOf = await lock(transaction, spaceId, mediaIds);
  const deleted = await transaction
    .delete(media)
    .where(and(areOf, isNull(lastUseIn(spaceId))))
    .returning({ id: media.id });
  return deleted.map(({ id }) => id);
}

/** The newest use of media of the space. */
const lastUseIn = (spaceId: string) => sql`(SELECT max(${mediaUses.receivedAt}) FROM ${mediaUses}
    WHERE ${and(eq(mediaUses.spaceId, spaceId), eq(mediaUses.mediaId, media.id))})`;

/** A writer that adds a use locks them, too: its use is seen afterwards, or it finds no media any more. */
async function lock(transaction: Transaction, spaceId: string, ids: readonly string[]) {
  // The text of an array: a trace may have more uses than a statement may have parameters.
  const areOf = and(eq(media.spaceId, spaceId), sql`${media.id} = ANY (${`{${ids.join()}}`}::text[])`);
  await transaction.select({ id: media.id }).from(media).where(areOf).orderBy(media.id).for('update');
  return areOf;
}
