import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { backUp } from '../../../launcher/backup/backup.ts';
import { restorePostgres } from '../../../launcher/restore/restore.ts';
import { RestoreRecord } from '../../../launcher/restore/restore-journal.ts';
import { issueApiKey, revokeApiKey } from '../../../lib/accounts/api-keys.ts';
import { openIngestClient } from '../../../lib/client/ingest-client.ts';
import { relayControlChanges } from '../../../lib/control/relay.ts';
import { ensureControlStream } from '../../../lib/control/stream.ts';
import { openPostgres } from '../../../lib/db/connect.ts';
import { openDatabase } from '../../../lib/db/database.ts';
import { connectQueue } from '../../../lib/queue/connect.ts';
import { eraseEvents } from '../../../operations/erasure/erase.ts';
import { catchUp } from '../../../operations/restore/catch-up.ts';
import { toolEvent } from '../../fixtures/events.ts';
import { serverPassword } from '../../system/servers.ts';
import type { System } from '../../system/system.ts';
import { retry, until } from '../../wait.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { freshIds } from '../load/batches.ts';
import { createTenant, type Tenant } from '../load/tenants.ts';
import { filesWith, hasText } from '../verify/hidden-text.ts';

/** The text of the event that is erased, which no file of the restored database may have, compressed or not. */
const canary = 'the-erased-canary';
const waitMsMax = 120_000;
/** Batches between two steps: some are before the backup, between it and the restored time, and after that. */
const batchesBetween = 40;

/** What changed after the time that is restored. It is for no journal: the invariants of the load know no erasure. */
interface Changes {
  tenant: Tenant;
  erasedId: string;
  keptId: string;
  revokedKey: string;
  newKey: string;
}

const changesOf = new WeakMap<System, Changes>();

/** The drill of docs/backup.md: the data directory of Postgres is lost, and restored to a time from which the queue goes on. */
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
  const dataDir = join(system.directory, 'postgres');
  await using nats = await connectQueue(system.natsUrls.join(','), 'chaos');
  await ensureControlStream(nats, { NATS_REPLICAS: system.options.natsServers === 1 ? 1 : 3 });
  const secrets = { postgresPassword: serverPassword };
  const { backup, failure, directory } = await backUp({
    url: system.databaseUrl,
    dataDir,
    to: join(system.directory, 'backups'),
    otherwise: '',
    secrets,
    keepDays: 7,
    report: log,
  });
  if (failure !== undefined) throw new Error(`the backup was not verified: ${failure}`);
  await journal.untilAccepted(batchesBetween, waitMsMax);
  const before = await prepareChanges(run);
  const [row] = await system.sql<{ at: Date }[]>`SELECT clock_timestamp() AS at`;
  const to = row?.at ?? new Date();
  await journal.untilAccepted(batchesBetween, waitMsMax);
  const changes = await makeChanges(run, before);
  changesOf.set(system, changes);
  await relayControlChanges(system.database, nats);
  await journal.untilAccepted(batchesBetween, waitMsMax);

  const postgres = system.process('postgres');
  const users = system.processes.filter(({ kind }) => kind === 'writer');
  postgres.hold();
  // Postgres archives in the background: what it has not archived yet is lost with the disk.
  postgres.kill('SIGKILL');
  await postgres.untilDown();
  rmSync(dataDir, { recursive: true });
  const lostMs = performance.now();
  log('the data directory of Postgres is gone');
  const record = new RestoreRecord(join(system.directory, 'restore.json'), {
    id: 'drill',
    to: to.toISOString(),
    directory,
    label: backup.label,
    step: 'requested',
  });
  await restorePostgres(record, {
    dataDir,
    password: serverPassword,
    logFile: join(system.directory, 'logs', 'restore.log'),
    async stopServices() {
      for (const one of users) one.hold();
      await Promise.all(users.map((one) => one.stop()));
    },
    async catchUp(url, { to: restoredTo }) {
      await using sql = openPostgres(url, {
        applicationName: 'chaos',
        connectionsMax: 1,
        statementTimeoutMs: 0,
      });
      const caughtUp = await catchUp(openDatabase(sql), nats, { restoredTo, report: log });
      if (caughtUp.lost.length > 0) throw new Error(caughtUp.lost.join(' '));
      return caughtUp;
    },
    report: log,
  });
  const stored = () => countStored(system);
  postgres.release();
  await postgres.untilRunning();
  const storedBefore = await stored();
  for (const one of users) one.release();
  await until(
    async () => (await stored()) > storedBefore,
    waitMsMax,
    'no event was stored after the restore',
  );
  const seconds = ((performance.now() - lostMs) / 1_000).toFixed(1);
  note(
    `restored to ${record.journal.restoredTo}; the first event was stored ${seconds} s after the loss; "drained in" counts to the last one`,
  );
}

async function countStored({ sql }: System): Promise<number> {
  const [row] = await retry(
    () => sql<{ events: number }[]>`SELECT coalesce(sum(events), 0)::float8 AS events FROM usage_months`,
  );
  return row?.events ?? 0;
}

async function prepareChanges({ system }: FaultRun): Promise<Changes> {
  const tenant = await createTenant(system);
  const [erasedId = '', keptId = ''] = freshIds(2);
  const { apiKey: revokedKey } = await issueApiKey(system.database, tenant.spaceId, {
    name: 'old',
    pepper: system.pepper,
  });
  await send(system, tenant.apiKey, [eventOf(erasedId, 'erased'), eventOf(keptId, 'kept')]);
  await untilStored(system, keptId);
  return { tenant, erasedId, keptId, revokedKey, newKey: '' };
}

/** An erasure of an event from before the restored time and of one after it, a revocation, and a new key. */
async function makeChanges({ system, log }: FaultRun, before: Changes): Promise<Changes> {
  const { tenant, revokedKey } = before;
  const { database, pepper } = system;
  const [laterId = ''] = freshIds(1);
  await send(system, tenant.apiKey, [eventOf(laterId, 'erased')]);
  await untilStored(system, laterId);
  await using nats = await connectQueue(system.natsUrls.join(','), 'chaos');
  const subject = { kind: 'user', value: 'erased' } as const;
  await eraseEvents(database, nats, tenant.spaceId, {
    subject,
    reason: undefined,
    backupRetentionDays: 7,
    report: log,
  });
  const [key] = await system.sql<{ id: string }[]>`
    SELECT id FROM api_keys WHERE space_id = ${tenant.spaceId} AND name = 'old'`;
  await revokeApiKey(database, key?.id ?? '');
  const { apiKey: newKey } = await issueApiKey(database, tenant.spaceId, { name: 'new', pepper });
  return { ...before, revokedKey, newKey };
}

const eventOf = (id: string, userId: string) =>
  toolEvent({
    id,
    context: { userId },
    // Not in the name, which statistics keep.
    properties: {
      tool: { name: 'drill', input: { text: userId === 'erased' ? canary : 'kept' }, output: '' },
    },
  });

async function send(system: System, apiKey: string, events: readonly object[]): Promise<void> {
  await retry(async () => {
    const status = await post(system, apiKey, events);
    if (status !== 202) throw new Error(`the drill's events were answered ${status}`);
  });
}

async function post(system: System, apiKey: string, events: readonly object[]): Promise<number> {
  await using client = openIngestClient({
    url: system.ingestUrls[0] ?? '',
    apiKey,
    connections: 1,
    timeoutMs: 10_000,
  });
  return (await client.post(Buffer.from(JSON.stringify({ events })))).status;
}

async function untilStored({ sql }: System, id: string): Promise<void> {
  await until(
    async () => (await sql`SELECT FROM events WHERE id = ${id}`).length > 0,
    waitMsMax,
    `the drill's event ${id} was not stored`,
  );
}

async function verifyChanges({ system }: FaultRun): Promise<string[]> {
  const changes = changesOf.get(system);
  if (changes === undefined) return ['the drill did not come to its changes'];
  const { tenant, keptId, revokedKey, newKey } = changes;
  const violations: string[] = [];
  const rows = await system.sql<{ id: string }[]>`SELECT id FROM events WHERE space_id = ${tenant.spaceId}`;
  if (rows.length !== 1 || rows[0]?.id !== keptId)
    violations.push(`${rows.length} events of the drill are stored, not the kept one`);
  const [usage] = await system.sql<{ events: number }[]>`
    SELECT coalesce(sum(events), 0)::float8 AS events FROM usage_months WHERE space_id = ${tenant.spaceId}`;
  // The erased ones were received, and stay counted.
  if (usage?.events !== 3) violations.push(`the usage of the drill's space is ${usage?.events}, not 3`);
  const revoked = await post(system, revokedKey, [eventOf(keptId, 'kept')]);
  if (revoked !== 401) violations.push(`the revoked key got ${revoked}`);
  const accepted = await post(system, newKey, [eventOf(keptId, 'kept')]);
  if (accepted !== 202) violations.push(`the new key got ${accepted}`);
  const bodies = await system.sql<{ body: Buffer }[]>`
    SELECT body FROM segments WHERE space_id = ${tenant.spaceId}
    UNION ALL SELECT part FROM quarantine WHERE space_id = ${tenant.spaceId}`;
  if (!bodies.some(({ body }) => hasText(body, keptId))) violations.push('the kept event is in no segment');
  if (bodies.some(({ body }) => hasText(body, canary)))
    violations.push('a segment or the quarantine has the text of an erased event');
  await system.sql`CHECKPOINT`;
  const files = filesWith(join(system.directory, 'postgres', 'base'), canary);
  return [...violations, ...files.map((file) => `${file} has the text of an erased event`)];
}
