import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { Database } from '../../../store/db/database.ts';
import { listNodes, nameOfNode, readPlacements, runOnNode } from '../../../store/db/layout/cluster-nodes.ts';
import { inDoubtPollMs, inDoubtWaitMs } from '../limits.ts';

/** A transaction that was prepared on a node before the erasure is neither committed nor rolled back. */
export class TransactionInDoubtError extends Error {
  override name = 'TransactionInDoubtError';
}

/**
 * Waits until no transaction that was prepared before the call is in doubt on the node of a space. When a node fails between the two
 * phases of a commit, the writer has its COMMIT and acknowledges the messages, while their events are not visible until Citus has recovered
 * the transaction: an erasure would not find them.
 *
 * @throws TransactionInDoubtError when one stays in doubt.
 */
export async function untilNoneInDoubt(
  database: Database,
  spaceId: string,
  report: (text: string) => void,
): Promise<void> {
  const placements = await readPlacements(database, [spaceId]);
  if (placements === undefined) return;
  for (const node of await listNodes(database)) {
    if (nameOfNode(node) !== placements.get(spaceId)) continue;
    const xid = await runOnNode(database, node, 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text');
    const older = `SELECT count(*)::text FROM pg_prepared_xacts
      WHERE database = current_database() AND age(transaction) > age('${BigInt(xid)}'::xid8::xid)`;
    const deadlineMs = performance.now() + inDoubtWaitMs;
    while ((await runOnNode(database, node, older)) !== '0') {
      if (performance.now() > deadlineMs)
        throw new TransactionInDoubtError(
          `a transaction is in doubt on ${nameOfNode(node)}: see pg_prepared_xacts there. Run the command again when it has ended.`,
        );
      report(`waiting for a transaction in doubt on ${nameOfNode(node)}`);
      // Only a superuser may call it. Otherwise Citus recovers by itself.
      await database.execute(sql`SELECT recover_prepared_transactions()`).catch(() => {});
      await sleep(inDoubtPollMs);
    }
  }
}
