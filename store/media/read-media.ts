import { and, eq, gt } from 'drizzle-orm';
import { hourMs } from '../../platform/time.ts';
import type { Database } from '../db/database.ts';
import { media } from '../db/schema.ts';

/** What a span names them by: the first 22 characters of a SHA-256 in base64url. */
export const mediaIdPattern = /^[\w-]{22}$/;

/** Half of the shortest retention: media that were used later do not expire before a new use is stored. */
const usedWithinMs = 12 * hourMs;

/** Whether the space has the media, and they will stay until a use that is sent now is stored. */
export async function hasMedia(database: Database, spaceId: string, id: string): Promise<boolean> {
  const isUsed = gt(media.receivedAt, new Date(Date.now() - usedWithinMs));
  const found = await database
    .select({ id: media.id })
    .from(media)
    .where(and(eq(media.spaceId, spaceId), eq(media.id, id), isUsed));
  return found.length > 0;
}

/** The bytes of media; undefined when the space does not have them. */
export async function readMedia(
  database: Database,
  spaceId: string,
  id: string,
): Promise<Buffer | undefined> {
  const [row] = await database
    .select({ data: media.data })
    .from(media)
    .where(and(eq(media.spaceId, spaceId), eq(media.id, id)));
  return row?.data;
}
