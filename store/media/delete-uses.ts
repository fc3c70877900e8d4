import { and, eq, inArray, max, type SQL } from 'drizzle-orm';
import type { Transaction } from '../db/database.ts';
import { media, mediaUses } from '../db/schema.ts';

/** Deletes uses, and media that were used by these alone. @returns the number of media, and the uses. */
export async function deleteUses(
  transaction: Transaction,
  spaceId: string,
  areGone: SQL | undefined,
): Promise<{ media: number; useIds: readonly string[] }> {
  const ofUse = (more: SQL | undefined) => and(eq(mediaUses.spaceId, spaceId), more);
  const uses = await transaction
    .select({ id: mediaUses.id, mediaId: mediaUses.mediaId })
    .from(mediaUses)
    .where(ofUse(areGone));
  if (uses.length === 0) return { media: 0, useIds: [] };
  const mediaIds = [...new Set(uses.map(({ mediaId }) => mediaId))];
  const areOf = and(eq(media.spaceId, spaceId), inArray(media.id, mediaIds));
  // A writer that adds a use locks them, too: its use is seen below, or it finds no media any more.
  await transaction.select({ id: media.id }).from(media).where(areOf).orderBy(media.id).for('update');
  const useIds = uses.map(({ id }) => id);
  await transaction.delete(mediaUses).where(ofUse(inArray(mediaUses.id, useIds)));
  const left = await transaction
    .select({ id: mediaUses.mediaId, receivedAt: max(mediaUses.receivedAt) })
    .from(mediaUses)
    .where(ofUse(inArray(mediaUses.mediaId, mediaIds)))
    .groupBy(mediaUses.mediaId);
  const leftIds = new Set(left.map(({ id }) => id));
  const unused = mediaIds.filter((id) => !leftIds.has(id));
  const isOne = (id: string) => and(eq(media.spaceId, spaceId), eq(media.id, id));
  // They expire with the uses that are left.
  for (const { id, receivedAt } of left)
    if (receivedAt !== null) await transaction.update(media).set({ receivedAt }).where(isOne(id));
  const { count } = await transaction
    .delete(media)
    .where(and(eq(media.spaceId, spaceId), inArray(media.id, unused)));
  return { media: count, useIds };
}
