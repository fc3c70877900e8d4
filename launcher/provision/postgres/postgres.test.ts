import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPostgres } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import { untilDurable } from '../../../store/db/durability.ts';
import { until } from '../../../test/support/wait.ts';
import { PortTakenError } from '../../process/server-process.ts';
import { startOnFreePorts } from '../ports.ts';
import { embeddedSettings } from './embedded-settings.ts';
import { startPostgres } from './postgres.ts';

let directory: string;

beforeEach(() => {
  // mkdtemp creates it with mode 0700: run as root, this also tests that Postgres's own user can pass it.
  directory = mkdtempSync(join(tmpdir(), 'weir-postgres-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const start = (port: number) =>
  startPostgres({
    dataDir: join(directory, 'data'),
    logFile: join(directory, 'postgres.log'),
    password: 'test',
    port,
  });

test('it runs with durable settings, and restarts with its data after SIGKILL', async () => {
  const first = await startOnFreePorts(1, ([port = 0]) => start(port));
  await query(first.url, (sql) => sql`CREATE TABLE kept AS SELECT 1 AS one`);
  const settings = ['fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums', 'listen_addresses'];
  const rows = await query(
    first.url,
    (sql) => sql`SELECT name, setting FROM pg_settings WHERE name IN ${sql(settings)}`,
  );
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    data_checksums: 'on',
    listen_addresses: '127.0.0.1',
  });
  const { shared_buffers: buffers = '' } = embeddedSettings();
  const isSized = await query(
    first.url,
    (sql) =>
      sql`SELECT pg_size_bytes(current_setting('shared_buffers')) = pg_size_bytes(${buffers}) AS is_sized`,
  );
  expect(isSized).toMatchObject([{ is_sized: true }]);
  // A running statement keeps its backend, and the shared memory, alive for a while after the SIGKILL.
  const busy = query(first.url, (sql) => sql`SELECT pg_sleep(1)`).catch(() => {});
  process.kill(first.pid, 'SIGKILL');
  expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 };
  await using sql = openPostgres(first.url, options);
  const waits: unknown[] = [];
  const durable = untilDurable(openDatabase(sql), (error) => waits.push(error));
  await until(() => waits.length > 0);
  await using second = await start(first.port);
  await busy;
  await durable;
  expect(waits).toHaveLength(1);
  expect(await query(second.url, (sql) => sql`SELECT one FROM kept`)).toMatchObject([{ one: 1 }]);
});

test('a taken port is a PortTakenError', async () => {
  await using first = await startOnFreePorts(1, ([port = 0]) => start(port));
  directory = mkdtempSync(join(tmpdir(), 'weir-postgres-'));
  await expect(start(first.port)).rejects.toThrow(PortTakenError);
});

test('a data directory of another major version is rejected with advice', async () => {
  mkdirSync(join(directory, 'data'));
  writeFileSync(join(directory, 'data', 'PG_VERSION'), '17\n');
  await expect(start(1)).rejects.toThrow(
    /written by Postgres 17, and this version of Weir runs Postgres 18.*WEIR_DATA_DIR/,
  );
});

test('when it does not start, the error ends with its last output', async () => {
  const first = await startOnFreePorts(1, ([port = 0]) => start(port));
  await first.stop();
  const conf = join(directory, 'data', 'postgresql.conf');
  writeFileSync(conf, `${readFileSync(conf, 'utf8')}\nno_such_setting = 1\n`);
  chmodSync(conf, 0o644);
  await expect(start(first.port)).rejects.toThrow(
    /did not start \(exit code 1\)[\s\S]*unrecognized configuration parameter "no_such_setting"/,
  );
});

async function query(url: string, run: (sql: postgres.Sql) => PromiseLike<postgres.RowList<postgres.Row[]>>) {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await run(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
