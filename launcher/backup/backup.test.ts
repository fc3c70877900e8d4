import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mountOn } from '../../harness/chaos/disk/mounts.ts';
import { checkTmpfs } from '../../harness/chaos/disk/small-disk.ts';
import { readArchiveState, readLastBackup } from '../../operations/storage/backup-state.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { migrateDatabase } from '../../store/migrate/migrate.ts';
import { until } from '../../test/support/wait.ts';
import { writePrivateJson } from '../data-directory/json-file.ts';
import type { ServerProcess } from '../process/server-process.ts';
import { startOnFreePorts } from '../provision/ports.ts';
import { startPostgres } from '../provision/postgres/postgres.ts';
import { ensureRoles, urlOfRole } from '../provision/postgres/roles.ts';
import { backUp } from './backup.ts';
import { type Backup, backupDirectory, listBackups } from './backup-directory.ts';
import { pruneBackups } from './prune.ts';
import { tryBackup } from './trial.ts';
import { segmentsBetween } from './wal-segments.ts';

const secrets = { postgresPassword: 'test', apiKeyPepper: 'pepper' };
let directory: string;
let server: ServerProcess;
let sql: Sql & AsyncDisposable;

const start = (port: number, settings = {}) =>
  startPostgres({
    dataDir: join(directory, 'postgres'),
    logFile: join(directory, 'postgres.log'),
    password: secrets.postgresPassword,
    port,
    settings: { shared_buffers: '32MB', ...settings },
  });
const options = () => ({
  url: server.url,
  dataDir: join(directory, 'postgres'),
  to: undefined,
  otherwise: join(directory, "back'ups"),
  secrets,
  keepDays: 7,
  report: () => {},
});

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'weir-backup-'));
  // A data directory of 0.1.0: without WAL for an archive, and killed.
  server = await startOnFreePorts(1, ([port = 0]) =>
    start(port, { wal_level: 'minimal', archive_mode: 'off' }),
  );
  process.kill(server.pid, 'SIGKILL');
  await server.exited;
  server = await start(server.port);
  sql = openPostgres(server.url, { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 0 });
  await ensureRoles(server.url);
  await migrateDatabase(urlOfRole(server.url, 'owner'));
  await sql`CREATE TABLE kept AS SELECT i, md5(i::text) AS text FROM generate_series(1, 20000) AS i`;
});
afterAll(async () => {
  await sql[Symbol.asyncDispose]();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('a backup of a running Postgres under load is verified, its secrets are apart, and what it needs is kept', async () => {
  let isLoaded = true;
  const load = (async () => {
    // Slowly: what it writes is archived, restored and read.
    while (isLoaded)
      await sql`WITH slept AS (SELECT pg_sleep(0.05))
        INSERT INTO kept SELECT i, repeat('x', 200) FROM slept, generate_series(1, 100) AS i`;
  })();
  const { backup, failure, secretsFile, directory: path } = await backUp(options());
  isLoaded = false;
  await load;
  expect(failure).toBeUndefined();
  expect(backup.verified?.pages).toBeGreaterThan(1_000);
  const [kept] = listBackups(backupDirectory(path));
  expect(kept).toEqual(backup);
  expect(JSON.parse(readFileSync(secretsFile, 'utf8'))).toEqual(secrets);
  expect(statSync(secretsFile).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(path, 'base', backup.label, 'files.json'), 'utf8')).not.toContain('secrets.json');
  expect(readdirSync(path).sort()).toEqual(['base', 'secrets', 'wal']);
  const recorded = await sql`SELECT label, location, verified_at IS NOT NULL AS verified FROM backups`;
  expect([...recorded]).toEqual([{ label: backup.label, location: path, verified: true }]);
});

test('the state of the backups and of the archive can be watched', async () => {
  const database = openDatabase(sql);
  expect(await readLastBackup(database)).toMatchObject({ location: options().otherwise });
  const state = await readArchiveState(database);
  expect(state).toMatchObject({ isOn: true, isFailing: false });
  expect(state.behindBytes).toBeLessThan(64 * 1024 ** 2);
  // The disk of the backups is not mounted.
  const wal = join(options().otherwise, 'wal');
  renameSync(wal, `${wal}-away`);
  await sql`INSERT INTO kept SELECT i, 'x' FROM generate_series(1, 10) AS i`;
  await sql`SELECT pg_switch_wal()`;
  await until(async () => (await readArchiveState(database)).isFailing);
  renameSync(`${wal}-away`, wal);
});

test('a backup with a changed file, and one without a segment of WAL, is not verified', async () => {
  const copy = join(directory, 'copy');
  cpSync(options().otherwise, copy, { recursive: true });
  const damaged = backupDirectory(copy);
  const [backup] = listBackups(damaged);
  if (backup === undefined) throw new Error('there is no backup');
  const tryIt = () =>
    tryBackup({ directory: damaged, backup, password: 'test', scratch: copy, report: () => {} });
  const segment = join(damaged.wal, backup.stopWal);
  const wal = readFileSync(segment);
  rmSync(segment);
  await expect(tryIt()).rejects.toThrow(/did not start/);
  writeFileSync(segment, wal);
  const [{ filenode } = { filenode: '' }] = await sql<
    { filenode: string }[]
  >`SELECT pg_relation_filepath('kept') AS filenode`;
  const file = join(damaged.base(backup.label), filenode);
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(9_000) ^ 1, 9_000);
  writeFileSync(file, bytes);
  await expect(tryIt()).rejects.toThrow(/the backup is damaged: .*is not what was written/);
  expect(readdirSync(copy).filter((name) => name.startsWith('trial-'))).toEqual([]);
});

test('without room, or without an archive that Postgres can write, there is no new backup and nothing that looks like one', async () => {
  const before = listBackups(backupDirectory(options().otherwise));
  writeFileSync(join(directory, 'file'), '');
  await expect(backUp({ ...options(), to: join(directory, 'file') })).rejects.toThrow();
  const abort = new AbortController();
  const stopped = backUp({ ...options(), signal: abort.signal });
  abort.abort(new Error('stopped'));
  await expect(stopped).rejects.toThrow('stopped');
  expect(listBackups(backupDirectory(options().otherwise))).toEqual(before);
  expect(readdirSync(join(options().otherwise, 'base'))).toEqual(before.map(({ label }) => label));
});

test('a disk that gets full during the copy leaves no backup, and the archive of the others goes on', async (context) => {
  const reason = await checkTmpfs();
  context.skip(reason !== undefined, reason);
  const full = mkdtempSync(join(tmpdir(), 'weir-full-'));
  try {
    // Enough bytes, and fewer files than a data directory has.
    await using _disk = await mountOn(full, ['-t', 'tmpfs', '-o', 'size=4g,nr_inodes=200,mode=755', 'tmpfs']);
    const lines: string[] = [];
    const failed = backUp({ ...options(), to: join(full, 'to'), report: (line) => lines.push(line) });
    await expect(failed).rejects.toThrow(/no space left on device.*full/);
    expect(listBackups(backupDirectory(join(full, 'to')))).toEqual([]);
    expect(readdirSync(join(full, 'to', 'base'))).toEqual([]);
  } finally {
    rmSync(full, { recursive: true });
  }
  const archivedTo = async () => {
    const [row] = await sql`SELECT current_setting('basic_archive.archive_directory', true) AS wal`;
    return row?.wal;
  };
  await until(async () => (await archivedTo()) === join(options().otherwise, 'wal'));
  const [lastBackup] = listBackups(backupDirectory(options().otherwise)).slice(-1);
  const { backup, failure } = await backUp(options());
  expect(failure).toBeUndefined();
  expect(backup.startedAt > (lastBackup?.startedAt ?? '')).toBe(true);
});

test('pruning goes by age, and keeps the last verified backup and the WAL of all that stay', () => {
  const path = mkdtempSync(join(tmpdir(), 'weir-prune-'));
  const target = backupDirectory(path);
  const day = (number: number, verified = true): Backup => ({
    label: `day-${number}`,
    startedAt: `2026-01-0${number}T00:00:00.000Z`,
    stoppedAt: `2026-01-0${number}T00:01:00.000Z`,
    startLsn: '',
    stopLsn: '',
    systemId: '',
    postgres: '',
    weir: '',
    bytes: 0,
    walSegmentBytes: 2 ** 24,
    startWal: `00000001000000000000000${number}`,
    stopWal: `00000001000000000000000${number}`,
    ...(verified && { verified: { at: '', seconds: 0, pages: 1 } }),
  });
  const backups = [day(1), day(2), day(3), day(4, false)];
  for (const backup of backups) {
    cpSync(options().otherwise, path, {
      recursive: true,
      filter: (from) => !from.includes('/base/') && !from.includes('/wal/'),
    });
    rmSync(target.base(backup.label), { recursive: true, force: true });
    cpSync(join(options().otherwise, 'secrets'), target.base(backup.label), { recursive: true });
    writePrivateJson(join(target.base(backup.label), 'backup.json'), backup);
  }
  const all = segmentsBetween(day(1).startWal, day(5).startWal, 2 ** 24);
  for (const name of [...all, '00000002.history', `${all[0]}.00000028.backup`, `${all[1]}.partial`])
    writeFileSync(join(target.wal, name), '');
  const labels = () => listBackups(target).map(({ label }) => label);
  expect(pruneBackups(target, 2, Date.parse('2026-01-04T12:00:00Z')).backups).toEqual(['day-1', 'day-2']);
  expect(readdirSync(target.wal).sort()).toEqual([...all.slice(2), '00000002.history'].sort());
  // All are old: the last verified one stays, with the one after it.
  pruneBackups(target, 1, Date.parse('2026-02-01T00:00:00Z'));
  expect(labels()).toEqual(['day-3', 'day-4']);
  expect(existsSync(join(target.wal, day(3).startWal))).toBe(true);
  rmSync(path, { recursive: true });
});

test('the names of segments go on after the last one of a part', () => {
  expect(segmentsBetween('0000000200000001000000FE', '000000020000000200000001', 2 ** 24)).toEqual([
    '0000000200000001000000FE',
    '0000000200000001000000FF',
    '000000020000000200000000',
    '000000020000000200000001',
  ]);
});
