import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { toolEvent } from '../../harness/fixtures/events.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { lastLogLines } from '../../launcher/process/log-file.ts';
import { chooseFreePorts } from '../../launcher/provision/ports.ts';
import { locatePostgres } from '../../launcher/provision/postgres/postgres-binaries.ts';
import { initDatabaseDirectory } from '../../launcher/provision/postgres/postgres-init.ts';
import { choosePostgresUser } from '../../launcher/provision/postgres/postgres-user.ts';
import { ensureRoles, urlOfRole } from '../../launcher/provision/postgres/roles.ts';
import { runWeir } from '../support/cli/command-line.ts';
import { postEvents } from '../support/http.ts';
import { pepper } from '../support/pipeline.ts';
import { type ServiceProcess, startService } from '../support/service-process.ts';
import { startNats } from '../support/test-servers.ts';
import { until } from '../support/wait.ts';

/** The recipe of docs/backup.md for an own Postgres, run as it stands. */

const page = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8');
const commandsOf = (name: string) => {
  const [, commands] = new RegExp(`^\`\`\`sh ${name}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page) ?? [];
  if (commands === undefined) throw new Error(`docs/backup.md has no commands "${name}"`);
  return commands;
};
const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
const password = 'own';
const resources = new AsyncDisposableStack();
let directory = '';
let variables: Record<string, string> = {};

const dataDir = () => join(directory, 'postgres');
const backups = () => join(directory, 'backups');
const userOf = () => choosePostgresUser(dataDir(), [locatePostgres().postgres, dataDir()]);

/** Runs commands of the page as the user of Postgres. */
async function run(script: string, more: Record<string, string> = {}): Promise<string> {
  const user = userOf();
  const [file, ...args] = user.command('sh', ['-c', script]);
  const port = new URL(variables.DATABASE_URL ?? '').port;
  const own = { PGHOST: '127.0.0.1', PGPORT: port, PGUSER: 'weir', PGDATABASE: 'weir', PGPASSWORD: password };
  const child = spawn(file, args, {
    ...user.spawn,
    env: {
      ...env,
      ...own,
      PGDATA: dataDir(),
      BACKUPS: backups(),
      ...more,
      PATH: `${locatePostgres().directory}:${env.PATH}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  expect(exitCode, `${script}\n${stdout}${stderr}${lastLogLines(`${dataDir()}.log`, 0)}`).toBe(0);
  return stdout;
}

const query = (sql: string) => run(`psql -XAtc "${sql}"`);
const postmasterPid = () => Number(readFileSync(join(dataDir(), 'postmaster.pid'), 'utf8').split('\n')[0]);
const isMissing = findMissingTool(['psql']);

beforeAll(async () => {
  if (isMissing !== undefined) return;
  directory = mkdtempSync(join(inject('runDirectory'), 'own-'));
  const [port = 0] = await chooseFreePorts(1);
  const user = userOf();
  user.own(directory);
  mkdirSync(backups());
  user.own(backups());
  await initDatabaseDirectory({ dataDir: dataDir(), binaries: locatePostgres(), user, password });
  appendFileSync(
    join(dataDir(), 'postgresql.conf'),
    `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nshared_buffers = 32MB\nmax_locks_per_transaction = 512\n`,
  );
  const nats = resources.use(await startNats());
  variables = {
    DATABASE_URL: `postgres://weir:${password}@127.0.0.1:${port}/weir`,
    NATS_URL: nats.url,
    NATS_MONITOR_URL: nats.monitorUrl,
    API_KEY_PEPPER: pepper,
    INGEST_PORT: '0',
    QUEUE_BYTES_MAX: String(64 * 1024 ** 2),
  };
  await run('pg_ctl -l "$PGDATA.log" start');
  resources.defer(async () => {
    await run('pg_ctl -m immediate stop');
  });
  await run('psql -X -d postgres -c "CREATE DATABASE weir"');
  await ensureRoles(variables.DATABASE_URL ?? '');
});
afterAll(async () => {
  await resources.disposeAsync();
  if (directory !== '') rmSync(directory, { recursive: true, force: true });
});

test('an own Postgres is backed up, lost and restored with the commands of docs/backup.md, and the queue delivers what is missing', {
  timeout: 300_000,
}, async (context) => {
  context.skip(isMissing !== undefined, isMissing);
  const owner = { ...variables, DATABASE_URL: urlOfRole(variables.DATABASE_URL ?? '', 'owner') };
  const weir = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runWeir(args, owner);
    expect({ args, exitCode, stderr }).toMatchObject({ exitCode: 0 });
    return JSON.parse(stdout);
  };
  await weir('migrate');
  const { spaceId } = await weir('space', 'create', '--name', 'own');
  const { apiKey } = await weir('key', 'create', '--space', spaceId);
  const { keyId, apiKey: revokedKey } = await weir('key', 'create', '--space', spaceId);
  await using ingest = await startService('ingest', variables);
  let writer: ServiceProcess = await startService('writer', variables);
  await using _last = { [Symbol.asyncDispose]: async () => void (await writer.stop('SIGKILL')) };
  const sent: string[] = [];
  const send = async () => {
    const event = toolEvent();
    expect((await postEvents({ url: ingest.ready.url ?? '' }, { apiKey }, [event])).status).toBe(202);
    sent.push(String(event.id));
  };
  const stored = async () =>
    (await query(`SELECT id FROM events WHERE space_id = '${spaceId}' ORDER BY id`)).trim().split('\n');
  const untilStored = () => until(async () => (await stored()).join() === sent.toSorted().join(), 60_000);

  await run(commandsOf('archive'));
  await send();
  await untilStored();
  await run(commandsOf('backup') + commandsOf('verify'));
  const [label = '', ...others] = readdirSync(join(backups(), 'base'));
  expect({ label, others }).toEqual({ label: expect.stringMatching(/^\d{8}T\d{6}Z$/), others: [] });
  await weir('backup', '--record', 'copy');
  expect((await runWeir(['doctor', '--quiet'], owner)).stdout).not.toContain('"check":"backup"');
  await send();
  await untilStored();
  const T = (
    await query(
      `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\\"T\\"HH24:MI:SS.US\\"+00:00\\"')`,
    )
  ).trim();
  await weir('key', 'revoke', keyId);
  await send();
  await untilStored();
  await query('SELECT pg_switch_wal()');
  await until(async () => (await query('SELECT last_archived_wal FROM pg_stat_archiver')) !== '');
  await query('CHECKPOINT');

  const pid = postmasterPid();
  process.kill(pid, 'SIGKILL');
  rmSync(join(dataDir(), 'base'), { recursive: true });
  await send();
  // Not while a writer stores, or a dashboard shows keys that were revoked.
  const refused = await runWeir(['replay', '--since', T], owner);
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Stop writer') });
  await writer.stop('SIGTERM');
  await run(commandsOf('restore'), { T, LABEL: label });
  expect(await stored()).toEqual(sent.slice(0, 2).toSorted());
  const replayed = await run(`weir() { "${execPath}" "${main}" "$@"; }\n${commandsOf('replay')}`, {
    ...owner,
    T,
  });
  expect(JSON.parse(replayed.trim().split('\n').at(-1) ?? '')).toMatchObject({
    control: { tables: expect.arrayContaining(['api_keys']) },
    lost: [],
  });
  writer = await startService('writer', variables);
  await send();
  await untilStored();
  const late = await postEvents({ url: ingest.ready.url ?? '' }, { apiKey: revokedKey }, [toolEvent()]);
  expect(late.status).toBe(401);
});
