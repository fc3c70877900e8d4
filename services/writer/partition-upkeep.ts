import { startLoop } from '../../platform/background-loop.ts';
import type { Logger } from '../../platform/log.ts';
import { readServerClock } from '../../store/db/clock.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { ensurePartitions, findPartitionFaults } from '../../store/db/partitions.ts';
import { deleteOldDelays } from '../../store/store-delays/fold-delays.ts';
import { deleteOldCommits } from '../../store/tail/space-commits.ts';
import { partitionCheckMs, partitionRetryMs } from './limits.ts';

/**
 * Creates partitions ahead; missing ones of this week or the next, and rows in the default partition, are an
 * alarm. Deletes old commits and delays. On a separate connection: moving rows out of the default partition
 * may take minutes.
 */
export function keepPartitions(databaseUrl: string, log: Logger): AsyncDisposable {
  const sql = openPostgres(databaseUrl, { applicationName: 'weir-writer-upkeep', statementTimeoutMs: 0 });
  const database = openDatabase(sql);
  return startLoop(
    {
      run: () => keepOnce(database, log),
      intervalMs: (isKept) => (isKept ? partitionCheckMs : partitionRetryMs),
      retryMs: partitionRetryMs,
      failure: 'partitions were not checked; retrying later',
      interrupt: () => sql.end({ timeout: 0 }),
    },
    log,
  );
}

/** @returns whether all partitions exist, also those further ahead. */
async function keepOnce(database: Database, log: Logger): Promise<boolean> {
  const nowMs = await readServerClock(database);
  const failure: unknown = await ensurePartitions(database, nowMs).catch((error: unknown) => error);
  if (failure !== undefined) log.warn({ err: failure }, 'partitions were not created; retrying later');
  for (const fault of await findPartitionFaults(database, nowMs)) log.error(`ALARM: ${fault}`);
  await deleteOldCommits(database);
  await deleteOldDelays(database);
  return failure === undefined;
}
