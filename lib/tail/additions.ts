import { lt, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { segmentAdditions } from '../db/schema.ts';
import { additionDays } from './limits.ts';

/** Deletes the additions that no tail can resume from any more. There are few: pieces of large batches, and late segments. */
export async function deleteOldAdditions(database: Database): Promise<void> {
  await database
    .delete(segmentAdditions)
    .where(lt(segmentAdditions.storedAt, sql`now() - make_interval(days => ${additionDays})`));
}
