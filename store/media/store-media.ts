import { type SQL, sql } from 'drizzle-orm';
import type { TraceNodes } from '../../platform/queue/group.ts';
import type { Database } from '../db/database.ts';
import { isNotDeleted } from '../db/deleted-spaces.ts';
import { eventIds, media, mediaUses } from '../db/schema.ts';
import { nameOf, namesOf } from '../db/statement.ts';

/**
 * Stores the media of messages, and their uses by spans: each use once, by the ledger, also after it was
 * erased or has expired. What a deleted space sent is not stored.
 * @returns how many uses name media that the space does not have any more.
 */
export async function storeMedia(
  database: Database,
  spaceId: string,
  sent: readonly Pick<TraceNodes, 'media' | 'receivedAtMs'>[],
): Promise<number> {
  let missing = 0;
  for (const { media: one, receivedAtMs } of sent) {
    if (one === undefined) continue;
    const space = sql`${spaceId}::uuid`;
    const receivedAt = sql`${new Date(Number(receivedAtMs)).toISOString()}::timestamptz`;
    const eventId = sql`${one.eventId === '' ? null : one.eventId}::uuid`;
    const [row] = await database.execute<{ missing: boolean }>(sql`
WITH sent AS MATERIALIZED (
  SELECT ${one.useId}::uuid AS use, ${one.id}::text AS id WHERE ${isNotDeleted(space)}
), ${one.data.length === 0 ? ofStored(space, receivedAt) : withData(space, receivedAt, one)}, added AS (
  INSERT INTO ${mediaUses} (${namesOf([mediaUses.spaceId, mediaUses.id, mediaUses.mediaId, mediaUses.traceId, mediaUses.eventId, mediaUses.receivedAt])})
  SELECT ${space}, new_use.id, ${one.id}, ${one.traceId}::uuid, ${eventId}, ${receivedAt} FROM new_use, stored
)
SELECT (SELECT count(*) FROM sent) > (SELECT count(*) FROM stored) AND ${one.data.length === 0} AS missing`);
    if (row?.missing === true) missing += 1;
  }
  return missing;
}

/** The ledger first: media of a use that is known may have been erased since. */
function withData(space: SQL, receivedAt: SQL, { type, data }: { type: string; data: Uint8Array }): SQL {
  return sql`new_use AS (${addToLedger(space, sql`sent`)}), stored AS (
  INSERT INTO ${media} AS kept (${namesOf([media.spaceId, media.id, media.type, media.data, media.receivedAt])})
  SELECT ${space}, sent.id, ${type}, ${Buffer.from(data.buffer, data.byteOffset, data.length)}::bytea, ${receivedAt} FROM new_use, sent
  ON CONFLICT (${namesOf([media.spaceId, media.id])}) DO UPDATE
  SET ${nameOf(media.receivedAt)} = greatest(kept.${nameOf(media.receivedAt)}, excluded.${nameOf(media.receivedAt)})
  RETURNING ${nameOf(media.id)}
)`;
}

/** The media first: when they are gone, their use is not known either, and can be sent again with them. */
function ofStored(space: SQL, receivedAt: SQL): SQL {
  return sql`stored AS (
  UPDATE ${media} SET ${nameOf(media.receivedAt)} = greatest(${media.receivedAt}, ${receivedAt})
  FROM sent WHERE ${media.spaceId} = ${space} AND ${media.id} = sent.id RETURNING sent.use
), new_use AS (${addToLedger(space, sql`stored`)})`;
}

function addToLedger(space: SQL, uses: SQL): SQL {
  return sql`
  INSERT INTO ${eventIds} (${namesOf([eventIds.spaceId, eventIds.id])})
  SELECT ${space}, use FROM ${uses} ON CONFLICT DO NOTHING RETURNING ${nameOf(eventIds.id)}
`;
}
