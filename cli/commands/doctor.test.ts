import { jetstreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import type { Finding } from '../../operations/doctor/finding.ts';
import { judgeServices } from '../../operations/doctor/service-checks.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import type { ServiceReport } from '../../platform/queue/service-discovery.ts';
import { fingerprintOf } from '../../platform/queue/service-discovery.ts';
import { firstStream } from '../../platform/queue/settings.ts';
import { version } from '../../platform/version.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { schemaVersion } from '../../store/db/version.ts';
import { quarantineMessage } from '../../store/write/quarantine.ts';
import { runWeir } from '../../test/support/cli/command-line.ts';
import { startNats } from '../../test/support/test-servers.ts';
import { usePipeline } from '../../test/support/use-pipeline.ts';

const { pipeline } = usePipeline();

async function doctor(...args: string[]) {
  const { exitCode, stdout, stderr } = await runWeir(['doctor', ...args], pipeline.variables);
  const findings: Finding[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const statuses = Object.fromEntries(findings.map(({ check, status }) => [check, status]));
  return { exitCode, stderr, findings, statuses };
}

// The Postgres of the tests runs without fsync, which is a finding.
test('a running system is checked part by part; each finding that is not ok says what to do', async () => {
  const { exitCode, stderr, findings, statuses } = await doctor();
  expect(statuses).toMatchObject({
    'postgres.reachable': 'ok',
    'postgres.durability': 'failed',
    'postgres.writable': 'ok',
    'postgres.checksums': 'ok',
    'postgres.clock': 'ok',
    'postgres.schema': 'ok',
    'postgres.partitions': 'ok',
    'postgres.roles': 'ok',
    'nats.reachable': 'ok',
    'nats.sync': 'ok',
    'queue.WEIR_LOG': 'ok',
    'queue.WEIR_LOG.pending': 'ok',
    'queue.WEIR_LOG.window': 'ok',
    control: 'ok',
    'control.pending': 'ok',
    services: 'ok',
    'services.versions': 'ok',
    'services.pepper': 'ok',
    'services.clocks': 'ok',
    'services.certificate': 'ok',
    'services.busiest': 'ok',
    backup: 'warning',
    archive: 'skipped',
    statistics: 'ok',
    spaces: 'ok',
    quarantine: 'ok',
    erasures: 'ok',
    disk: 'skipped',
  });
  for (const { status, action } of findings) expect(action === undefined).toBe(status === 'ok');
  expect(findings.find(({ check }) => check === 'services')?.found).toMatch(/ingest .*, writer /);
  // `weir backup` backs up the Postgres of `weir start` only.
  expect(findings.find(({ check }) => check === 'backup')?.action).not.toContain('Run `weir backup`');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('2 of');
});

test('it finds what an operator can break: settings of the stream, partitions, the schema, quarantine', async () => {
  const { sql, database } = pipeline;
  await using nats = await connectQueue(pipeline.nats.url, 'test');
  const manager = await jetstreamManager(nats);
  await manager.streams.update(firstStream.name, { max_age: nanos(60 * 60_000) });
  await quarantineMessage(database, Buffer.from('no group'), new Error('test'));
  const newest = (table: string) => sql`
    SELECT child.relname AS name FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
    WHERE inhparent = ${table}::regclass AND child.relname <> ${`${table}_default`} ORDER BY child.relname DESC LIMIT 4`;
  for (const { name } of await newest('segments')) await sql`DROP TABLE ${sql(name)}`;
  await sql`UPDATE drizzle.__drizzle_migrations SET created_at = created_at - 1`;
  await sql`INSERT INTO backups (label, location, stopped_at, verified_at) VALUES ('old', 'here', now() - interval '2 days', now())`;
  const { statuses, findings } = await doctor('--quiet');
  expect(statuses).toMatchObject({
    backup: 'warning',
    'queue.WEIR_LOG': 'failed',
    quarantine: 'warning',
    'postgres.partitions': 'warning',
    'postgres.schema': 'failed',
  });
  expect(findings.find(({ check }) => check === 'queue.WEIR_LOG')?.found).toContain('max_age must be 0');
  expect(findings.find(({ check }) => check === 'backup')?.found).toContain('48.0 hours old, in here');
  expect(Object.values(statuses)).not.toContain('ok');
  // Another tool has made one.
  expect((await runWeir(['backup', '--record', 'pgbackrest'], pipeline.variables)).exitCode).toBe(0);
  expect((await doctor()).statuses).toMatchObject({ backup: 'ok' });
});

test('it finds what servers are set to: a read-only Postgres, a service as superuser, a nats-server that does not sync, an erasure that was interrupted', async () => {
  const { sql, variables } = pipeline;
  const [{ name } = { name: '' }] = await sql<{ name: string }[]>`SELECT current_database() AS name`;
  await using unsynced = await startNats({ syncInterval: '2m' });
  await using superuser = openPostgres(variables.DATABASE_URL ?? '', {
    applicationName: 'weir-writer',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  await superuser`SELECT 1`;
  await sql`
    INSERT INTO erasures (space_id, subject, started_at, unwritten) VALUES (gen_random_uuid(), 'before', now(), '{}')`;
  await sql`ALTER DATABASE ${sql(name)} SET default_transaction_read_only = on`;
  try {
    const { stdout } = await runWeir(['doctor', '--quiet'], {
      ...variables,
      NATS_URL: unsynced.url,
      NATS_MONITOR_URL: unsynced.monitorUrl,
    });
    for (const [check, status] of [
      ['postgres.writable', 'failed'],
      ['postgres.roles', 'warning'],
      ['nats.sync', 'failed'],
      ['queue', 'failed'],
      ['services', 'failed'],
      ['erasures', 'warning'],
    ])
      expect(stdout).toContain(`{"check":"${check}","status":"${status}"`);
  } finally {
    await sql`SET default_transaction_read_only = off`;
    await sql`ALTER DATABASE ${sql(name)} RESET default_transaction_read_only`;
  }
});

test('after an upgrade from 0.1 it says that there is no replay window, until it is chosen or declined', async () => {
  await using server = await startNats();
  const variables = { ...pipeline.variables, NATS_URL: server.url, NATS_MONITOR_URL: server.monitorUrl };
  await using nats = await connectQueue(server.url, 'test');
  const manager = await jetstreamManager(nats);
  const name = 'WEIR_EVENTS';
  await manager.streams.add({ name, subjects: ['weir.events'], retention: 'workqueue', storage: 'file' });
  await manager.consumers.add(name, { durable_name: 'writer', ack_policy: 'explicit' });
  const windowOf = async (hours: string) => {
    const { stdout } = await runWeir(['doctor'], { ...variables, REPLAY_WINDOW_HOURS: hours });
    return /"check":"queue.window","status":"(\w+)"/.exec(stdout)?.[1];
  };
  expect([await windowOf(''), await windowOf('24'), await windowOf('0')]).toEqual([
    'warning',
    'warning',
    'ok',
  ]);
});

test('without a system it says so, and exits with 1', async () => {
  const { exitCode, stdout } = await runWeir(['doctor']);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('nothing was started in WEIR_DATA_DIR');
  const gone = await runWeir(['doctor'], {
    DATABASE_URL: 'postgres://127.0.0.1:1/weir',
    NATS_URL: 'nats://127.0.0.1:1',
  });
  expect(gone.stdout).toContain('"check":"postgres.reachable","status":"failed"');
  expect(gone.stdout).toContain('"check":"nats.reachable","status":"failed"');
});

test('services that differ are named: a missing one, another version, pepper or clock', () => {
  const nowMs = Date.UTC(2026, 10, 23);
  const report = (service: string, changes: Partial<ServiceReport> = {}): ServiceReport => ({
    service,
    host: 'one',
    pid: 1,
    version,
    schema: schemaVersion,
    pepperFingerprint: fingerprintOf('a pepper of the tests'),
    nowMs,
    metricsUrl: '',
    ...changes,
  });
  const judge = (...reports: ServiceReport[]) =>
    judgeServices(reports, 'a pepper of the tests', nowMs)
      .filter(({ status }) => status !== 'ok')
      .map(({ check, found }) => `${check}: ${found}`);
  const [ingest, writer] = [report('ingest'), report('writer', { pepperFingerprint: undefined })];
  expect(judge(ingest, writer)).toEqual([]);
  expect(judge(ingest)).toEqual(['services: ingest (one, pid 1); missing: writer']);
  expect(judge()).toEqual(['services: none answers; missing: ingest, writer']);
  expect(judge(ingest, writer, report('ingest', { host: 'two', version: '0.0.9' }))).toEqual([
    `services.versions: this is ${version}; ingest (two, pid 1) is 0.0.9`,
  ]);
  expect(judge(ingest, writer, report('ingest', { host: 'two', pepperFingerprint: '00000000' }))).toEqual([
    'services.pepper: API_KEY_PEPPER of ingest (two, pid 1) differs from the one here',
  ]);
  expect(judge(ingest, report('writer', { nowMs: nowMs - 90_000 }))).toEqual([
    'services.clocks: writer (one, pid 1) is off by -90 s',
  ]);
  const busy = report('ingest', { busiest: { spaceId: 'a space', share: 0.834 } });
  const found = judgeServices([busy, writer], undefined, nowMs).map((one) => one.found);
  expect(found).toContain('a space 83 % of the bytes of ingest (one, pid 1)');
});
