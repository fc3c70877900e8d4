import { setTimeout as sleep } from 'node:timers/promises';
import { startLoop } from '../../platform/background-loop.ts';
import { messageOf } from '../../platform/thrown.ts';
import { backupDirectory } from '../backup/backup-directory.ts';
import { ensureRoles, urlOfRole } from '../provision/postgres/roles.ts';
import { discardCopy, type RestoreSystem, restorePostgres } from '../restore/restore.ts';
import { findOpenRestore, type RestoreRecord } from '../restore/restore-journal.ts';
import { logLines } from '../terminal/progress.ts';
import type { StartContext } from './start-context.ts';

type RestoreContext = Pick<StartContext, 'data' | 'progress' | 'state' | 'loops' | 'signal'>;

const pollMs = 1_000;

/**
 * Restores Postgres on request of `weir restore`, while ingest goes on, with the keys of the last senders.
 * @param held the labels of Postgres and of what uses it, in the order in which they start.
 */
export function watchRestores(
  context: RestoreContext,
  held: readonly string[],
  natsUrl: string,
): AsyncDisposable {
  const run = async () => {
    const record = findOpenRestore(context.data.file('restore.json'));
    if (record !== undefined) await restoreWhileRunning(context, record, { held, natsUrl });
  };
  const failure = 'a restore could not be begun or ended';
  return startLoop(
    { run, intervalMs: pollMs, delayMs: pollMs, retryMs: pollMs, failure },
    logLines(context.progress.note),
  );
}

async function restoreWhileRunning(
  context: RestoreContext,
  record: RestoreRecord,
  { held, natsUrl }: { held: readonly string[]; natsUrl: string },
): Promise<void> {
  const { progress, loops, signal } = context;
  progress.note('restoring Postgres, as `weir restore` requested');
  const stopServices = async () => {
    for (const name of held.toReversed()) await loops.get(name)?.hold();
  };
  const failure = await restore(context, record, { natsUrl, stopServices });
  // A stop of the whole system: the next start continues.
  if (signal.aborted) return;
  if (failure !== undefined) progress.note(`the restore failed: ${failure}`);
  for (const name of held) await loops.get(name)?.release();
  await endJournal(context, record, failure);
  if (failure === undefined) progress.note('Postgres is restored');
}

/** Waits while the disk is full: an open journal would begin the restore again. */
async function endJournal(
  { progress, signal }: RestoreContext,
  record: RestoreRecord,
  failure: string | undefined,
): Promise<void> {
  for (let isReported = false; !signal.aborted; isReported = true) {
    try {
      return record.change(failure === undefined ? { step: 'done' } : { step: 'failed', failure });
    } catch (error) {
      if (!isReported) progress.note(`the end of the restore is not recorded yet: ${messageOf(error)}`);
      await sleep(pollMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** Continues an earlier restore. @throws Error when it fails: the next start uses the old data directory. */
export async function finishRestore(
  context: RestoreContext,
  record: RestoreRecord,
  natsUrl: string,
): Promise<void> {
  await context.progress.step('restore of Postgres', async () => {
    const failure = await restore(context, record, { natsUrl, stopServices: async () => {} });
    context.signal.throwIfAborted();
    await endJournal(context, record, failure);
    if (failure !== undefined) throw new Error(`The restore failed: ${failure}`);
  });
}

/** @returns why it failed. Then the copy is deleted, unless a stop interrupted the restore. */
async function restore(
  { data, progress, state, signal }: RestoreContext,
  record: RestoreRecord,
  { natsUrl, stopServices }: { natsUrl: string; stopServices: () => Promise<void> },
): Promise<string | undefined> {
  const report = (line: string) => progress.note(`  … ${line}`);
  const system: RestoreSystem = {
    dataDir: data.postgres,
    password: data.secrets.postgresPassword,
    logFile: data.logFile('postgres-restore'),
    onSpawn: (pid) => state.addChild('postgres-restore', pid, 'SIGINT'),
    stopServices,
    report,
    catchUp: (url, restored) =>
      catchUpCopy(url, restored, { natsUrl, directory: record.journal.directory, report }),
  };
  try {
    await restorePostgres(record, system);
    return undefined;
  } catch (error) {
    try {
      if (!signal.aborted) discardCopy(record, system);
    } catch (leftover) {
      report(`the copy of the failed restore was not deleted: ${messageOf(leftover)}`);
    }
    return messageOf(error);
  } finally {
    state.removeChild('postgres-restore');
  }
}

/** Brings a restored Postgres to what the queue has, as the control stream and the replay window tell. */
async function catchUpCopy(
  url: string,
  { to, from }: Parameters<RestoreSystem['catchUp']>[1],
  { natsUrl, directory, report }: { natsUrl: string; directory: string; report: (line: string) => void },
): ReturnType<RestoreSystem['catchUp']> {
  // Loaded late: 100 MB of memory.
  const [connect, { openDatabase }, { migrateDatabase }, queue, { catchUp }, { recordBackups }] =
    await Promise.all([
      import('../../store/db/connect.ts'),
      import('../../store/db/database.ts'),
      import('../../store/migrate/migrate.ts'),
      import('../../platform/queue/connect.ts'),
      import('../../operations/control/catch-up.ts'),
      import('../backup/recorded-backups.ts'),
    ]);
  await ensureRoles(url);
  await migrateDatabase(urlOfRole(url, 'owner'));
  const options = { applicationName: 'weir-restore', statementTimeoutMs: 0 };
  await using sql = connect.openPostgres(urlOfRole(url, 'owner'), options);
  await using nats = await queue.connectQueue(natsUrl, 'weir-restore');
  const database = openDatabase(sql);
  const { controlSequence } = from;
  const controlStart = controlSequence === undefined ? undefined : { afterSequence: controlSequence };
  const caughtUp = await catchUp(database, nats, { restoredTo: to, controlStart, report });
  for (const line of caughtUp.lost) report(line);
  await recordBackups(database, backupDirectory(directory));
  return caughtUp;
}
