import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { backUp } from '../../../launcher/backup/backup.ts';
import { restorePostgres } from '../../../launcher/restore/restore.ts';
import { RestoreRecord } from '../../../launcher/restore/restore-journal.ts';
import { catchUp } from '../../../operations/control/catch-up.ts';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { relayControlChanges } from '../../../store/control/relay.ts';
import { ensureControlStream, pruneControlStream, readControlState } from '../../../store/control/stream.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import type { ManagedProcess } from '../../system/managed-process.ts';
import { serverPassword } from '../../system/servers.ts';
import type { System } from '../../system/system.ts';
import { retry, until } from '../../wait.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { makeChanges, prepareChanges, verifyChanges } from '../verify/restored-changes.ts';

/** A backup, a restore and the recovery of Postgres each take seconds; the machine may be busy. */
const waitMsMax = 120_000;
/**
 * Batches between two steps: some are before the backup, between it and the restored time, and after that.
 */
const batchesBetween = 40;

/**
 * The drill of docs/backup.md: the data directory of Postgres is lost, and restored to a time from which the
 * queue goes on.
 */
function losePostgres(name: string, title: string, system: Fault['system'] = {}): Fault {
  return {
    name,
    row: 22,
    title,
    system,
    load: { clients: 2, eventsMax: 30, pauseMsMax: 30 },
    unavailableMsMax: 3_000,
    discardsSystem: true,
    inject: lose,
    verify: verifyChanges,
  };
}

export const losePostgresOne = losePostgres(
  'lose-postgres',
  'the data directory of Postgres is lost; restored from a backup to an earlier time, with what changed since',
);

export const losePostgresCluster = losePostgres(
  'lose-postgres-cluster',
  'the same with three nats-servers, two ingests and two writers',
  { natsServers: 3, ingests: 2, writers: 2 },
);

async function lose(run: FaultRun): Promise<void> {
  const { system, journal, note, log } = run;
  await using nats = await connectQueue(system.natsUrls.join(','), 'chaos');
  await ensureControlStream(nats, { NATS_REPLICAS: system.options.natsServers === 1 ? 1 : 3 });
  const backup = await backUpPostgres(run, nats);
  await journal.untilAccepted(batchesBetween, waitMsMax);
  const before = await prepareChanges(run);
  const [row] = await system.sql<{ at: Date }[]>`SELECT clock_timestamp() AS at`;
  const to = row?.at ?? new Date();
  await journal.untilAccepted(batchesBetween, waitMsMax);
  await makeChanges(run, before);
  await relayControlChanges(system.database, nats);
  await journal.untilAccepted(batchesBetween, waitMsMax);

  const postgres = system.process('postgres');
  const users = system.processes.filter(({ kind }) => kind === 'writer');
  postgres.hold();
  // Postgres archives in the background: what it has not archived yet is lost with the disk.
  postgres.kill('SIGKILL');
  await postgres.untilDown();
  rmSync(dataDirOf(system), { recursive: true });
  const lostMs = performance.now();
  log('the data directory of Postgres is gone');
  const restoredTo = await restore(run, { ...backup, to: to.toISOString() }, { nats, users });
  postgres.release();
  await postgres.untilRunning();
  const storedBefore = await countStored(system);
  for (const one of users) one.release();
  await until(
    async () => (await countStored(system)) > storedBefore,
    waitMsMax,
    'no event was stored after the restore',
  );
  const seconds = ((performance.now() - lostMs) / 1_000).toFixed(1);
  note(
    `restored to ${restoredTo}; the first event was stored ${seconds} s after the loss; "drained in" counts to the last one`,
  );
}

const dataDirOf = (system: System) => join(system.directory, 'postgres');

async function backUpPostgres(
  { system, log }: FaultRun,
  nats: NatsConnection,
): Promise<{ directory: string; label: string }> {
  const { backup, failure, directory } = await backUp({
    url: system.databaseUrl,
    dataDir: dataDirOf(system),
    to: join(system.directory, 'backups'),
    otherwise: '',
    secrets: { postgresPassword: serverPassword },
    keepDays: 7,
    // As `weir backup`: by its time alone a restore cannot tell a sequence whose write failed from a dropped
    // change.
    control: {
      readLastSequence: async () => (await readControlState(nats))?.lastSequence ?? 0,
      prune: (throughSequence) => pruneControlStream(nats, throughSequence),
    },
    report: log,
  });
  if (failure !== undefined) throw new Error(`the backup was not verified: ${failure}`);
  return { directory, label: backup.label };
}

/** @returns the time of the last change that the restored database has. */
async function restore(
  { system, log }: FaultRun,
  request: { directory: string; label: string; to: string },
  { nats, users }: { nats: NatsConnection; users: readonly ManagedProcess[] },
): Promise<string | undefined> {
  const file = join(system.directory, 'restore.json');
  const record = new RestoreRecord(file, { id: 'drill', ...request, step: 'requested' });
  await restorePostgres(record, {
    dataDir: dataDirOf(system),
    password: serverPassword,
    logFile: join(system.directory, 'logs', 'restore.log'),
    async stopServices() {
      for (const one of users) one.hold();
      await Promise.all(users.map((one) => one.stop()));
    },
    async catchUp(url, { to: restoredTo, from }) {
      await using sql = openPostgres(url, { applicationName: 'chaos', statementTimeoutMs: 0 });
      const controlStart = { afterSequence: from.controlSequence ?? 0 };
      const caughtUp = await catchUp(openDatabase(sql), nats, { restoredTo, controlStart, report: log });
      if (caughtUp.lost.length > 0) throw new Error(caughtUp.lost.join(' '));
      return caughtUp;
    },
    report: log,
  });
  return record.journal.restoredTo;
}

async function countStored({ sql }: System): Promise<number> {
  const [row] = await retry(
    () => sql<{ events: number }[]>`SELECT coalesce(sum(events), 0)::float8 AS events FROM usage_months`,
  );
  return row?.events ?? 0;
}
