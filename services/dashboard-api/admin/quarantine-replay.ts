import { sql } from 'drizzle-orm';
import { type Actor, auditChanged } from '../../../lib/accounts/audit.ts';
import type { Database } from '../../../lib/db/database.ts';
import { spaces } from '../../../lib/db/schema.ts';
import { type ReplayResult, replayQuarantined } from '../../../lib/write/replay.ts';

/**
 * Stores entries of a space's quarantine, as `weir quarantine replay` does. The audit row is written before: replaying stores each
 * entry in a statement of its own.
 */
export async function replayAsAdmin(
  database: Database,
  spaceId: string,
  { ids, actor }: { ids: readonly string[]; actor: Actor },
): Promise<ReplayResult> {
  const asked = database
    .$with('asked', { spaceId: spaces.id })
    .as(sql`SELECT ${spaces.id} FROM ${spaces} WHERE ${spaces.id} = ${spaceId}::uuid`);
  const audited = auditChanged(database, asked, {
    spaceId: asked.spaceId,
    actor,
    action: 'quarantine.replay',
    details: { ids },
  });
  await database.with(asked, audited).select().from(asked);
  return replayQuarantined(database, { spaceId, ids });
}
