import { sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { media, mediaUses } from '../db/schema.ts';

/**
 * Deletes the uses that were received before this time, as their events were, and the media whose newest use
 * was: one statement, so that no use is left without its media, nor media without a use. Media that a writer
 * uses meanwhile have a later time, and stay.
 * @returns how many media.
 */
export async function deleteExpiredMedia(
  database: Database,
  spaceId: string,
  cutoffMs: number,
): Promise<number> {
  const isExpired = (table: typeof media | typeof mediaUses) =>
    sql`${table.spaceId} = ${spaceId} AND ${table.receivedAt} < ${new Date(cutoffMs).toISOString()}::timestamptz`;
  const { count } = await database.execute(sql`
    WITH uses AS (DELETE FROM ${mediaUses} WHERE ${isExpired(mediaUses)})
    DELETE FROM ${media} WHERE ${isExpired(media)}`);
  return count;
}
