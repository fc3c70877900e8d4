import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { Database } from '../../../store/db/database.ts';
import { layoutOf } from '../../../store/db/layout/layout.ts';
import { inDoubtPollMs, inDoubtWaitMs } from '../limits.ts';

/** Prepared on a node before the erasure, and neither committed nor rolled back. */
export class TransactionInDoubtError extends Error {
  override name = 'TransactionInDoubtError';
}

/**
 * Waits until no transaction that was prepared before the call is in doubt on a space's node. After a failure
 * between the phases of a commit, the writer has acknowledged events that are invisible, and so would not be
 * erased, until Citus has recovered the transaction. @throws TransactionInDoubtError when one stays in doubt.
 */
export async function untilNoneInDoubt(
  database: Database,
  spaceId: string,
  report: (text: string) => void,
): Promise<void> {
  const layout = await layoutOf(database);
  const placements = await layout.readPlacements(database, [spaceId]);
  for (const server of placements === undefined ? [] : await layout.listServers(database)) {
    if (server.name !== placements?.get(spaceId)) continue;
    const xid = await server.run(sql`SELECT pg_snapshot_xmax(pg_current_snapshot())::text`);
    const older = sql`SELECT count(*)::text FROM pg_prepared_xacts
      WHERE database = current_database() AND age(transaction) > age(${String(BigInt(xid))}::xid8::xid)`;
    const deadlineMs = performance.now() + inDoubtWaitMs;
    while ((await server.run(older)) !== '0') {
      if (performance.now() > deadlineMs)
        throw new TransactionInDoubtError(
          `a transaction is in doubt on ${server.name}: see pg_prepared_xacts there. Run the command again when it has ended.`,
        );
      report(`waiting for a transaction in doubt on ${server.name}`);
      // For superusers only. Otherwise Citus recovers by itself.
      await database.execute(sql`SELECT recover_prepared_transactions()`).catch(() => {});
      await sleep(inDoubtPollMs);
    }
  }
}
