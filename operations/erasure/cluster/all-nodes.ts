import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { messageOf } from '../../../platform/thrown.ts';
import type { Database } from '../../../store/db/database.ts';
import { type Layout, layoutOf, type Server } from '../../../store/db/layout/layout.ts';
import { nodesPollMs, nodesWaitMs } from '../limits.ts';

export class NodeAwayError extends Error {
  override name = 'NodeAwayError';
}

/**
 * Waits until all nodes answer, also those without the space: the queue mixes messages of their spaces, and
 * their planner statistics and WAL may have its values.
 * @throws NodeAwayError when one stays away.
 */
export async function untilNodesAnswer(
  database: Database,
  report: (text: string) => void,
  waitMs = nodesWaitMs,
): Promise<void> {
  const layout = await layoutOf(database);
  if (!layout.isCluster) return;
  const deadlineMs = performance.now() + waitMs;
  for (let reported = ''; ; await sleep(nodesPollMs)) {
    const failure = await findFailure(database, layout);
    if (failure === undefined) return;
    if (performance.now() > deadlineMs)
      throw new NodeAwayError(`${failure}. Nothing was erased: run the command again when the node is back.`);
    if (failure !== reported) report(`waiting for a node of the database: ${failure}`);
    reported = failure;
  }
}

async function findFailure(database: Database, layout: Layout): Promise<string | undefined> {
  const ask = (server: Server) =>
    server.run(sql`SELECT 1`).then(
      () => undefined,
      (error: unknown) => messageOf(error),
    );
  for (const server of await layout.listServers(database)) {
    const failure = await ask(server);
    if (failure !== undefined) return failure;
  }
  return undefined;
}
