import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
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
  const useIds = uses.map(({ id }) => id);
  const mediaIds = new Set(uses.map(({ mediaId }) => mediaId));
  // Texts of arrays: a trace may have more uses than a statement may have parameters.
  const areOf = and(
    eq(media.spaceId, spaceId),
    sql`${media.id} = ANY (${`{${[...mediaIds].join()}}`}::text[])`,
  );
  // A writer that adds a use locks them, too: its use is seen below, or it finds no media any more.
  await transaction.select({ id: media.id }).from(media).where(areOf).orderBy(media.id).for('update');
  await transaction
    .delete(mediaUses)
    .where(ofUse(sql`${mediaUses.id} = ANY (${`{${useIds.join()}}`}::uuid[])`));
  const lastUse = sql`(SELECT max(${mediaUses.receivedAt}) FROM ${mediaUses}
    WHERE ${ofUse(eq(mediaUses.mediaId, media.id))})`;
  const { count } = await transaction.delete(media).where(and(areOf, isNull(lastUse)));
  // They expire with the uses that are left.
  await transaction.update(media).set({ receivedAt: lastUse }).where(areOf);
  return { media: count, useIds };
}
