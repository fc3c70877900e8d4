import { execFile } from 'node:child_process';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createWeirDirectory } from '../../harness/system/weir.ts';
import { until } from '../../harness/wait.ts';
import { readConnection } from '../../launcher/local-system.ts';
import { readProcess } from '../../launcher/process/process-identity.ts';
import { openPostgres } from '../../store/db/connect.ts';

/** For several starts, each of which may take a minute (harness/system/weir.ts) on a busy machine. */
const timeout = 400_000;

test('the printed curl command works, a second start is rejected, and SIGTERM leaves no process', async () => {
  await using weir = createWeirDirectory();
  await using cache = await mkdtempDisposable(join(tmpdir(), 'weir-compiled-'));
  const first = weir.launch({ NODE_COMPILE_CACHE: cache.path });
  await first.ready();
  // Its code was not compiled, so it has run its script again (launcher/supervise/compile-cache.ts).
  expect(readProcess(first.pid)?.commandLine).toContain('preload.ts');
  expect(await runPrintedCurl(first.output())).toEqual({ message: 'Queued 1 event.' });
  // stdout is not a terminal.
  const { apiKey, password } = weir.connection();
  expect(first.output()).not.toContain(apiKey);
  expect(first.output()).not.toContain(password);
  expect(first.output()).not.toContain('#link=');

  const { databaseUrl, dashboardUrl } = weir.connection();
  // The dashboard API connects when it first needs Postgres.
  expect((await fetch(`${dashboardUrl}/readyz`)).status).toBe(200);
  await using sql = openPostgres(databaseUrl, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 10_000,
  });
  const roles = await sql`SELECT DISTINCT usename FROM pg_stat_activity
    WHERE datname = current_database() AND usename IS NOT NULL ORDER BY usename`;
  expect(roles.map(({ usename }) => usename)).toEqual([
    'weir_dashboard',
    'weir_ingest',
    'weir_owner',
    'weir_writer',
  ]);

  const second = weir.launch();
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain('Weir already runs in this data directory');

  const pids = weir.pids();
  expect(pids).toHaveLength(6);
  first.kill('SIGTERM');
  expect(await first.exited).toBe(0);
  expect(pids.filter((pid) => readProcess(pid))).toEqual([]);
  expect(readConnection(weir.dataDir)).toBeUndefined();
});

test('a killed process is restarted at the same address, and a start after kill -9 of the supervisor stops its orphans and keeps the key and addresses', {
  timeout,
}, async () => {
  await using weir = createWeirDirectory();
  const killed = weir.launch();
  await killed.ready();
  const before = weir.connection();
  for (const name of ['postgres', 'nats-server', 'ingest', 'writer', 'dashboard-api']) {
    const pid = weir.pidOf(name);
    process.kill(pid, 'SIGKILL');
    await until(() => killed.output().includes(`${name} restarted`));
    expect(killed.output()).toContain(`${name} exited (signal SIGKILL)`);
    expect(weir.pidOf(name)).not.toBe(pid);
    await until(async () => (await runPrintedCurl(killed.output())).message === 'Queued 1 event.');
  }
  expect(weir.connection()).toEqual(before);

  const { apiKey, spaceId, password, databaseUrl, natsUrl } = before;
  const children = weir.record().children.map(({ pid }) => pid);
  killed.kill('SIGKILL');
  await killed.exited;
  const next = weir.launch();
  await next.ready();
  expect(next.output()).toMatch(/stopped the processes of a killed start: .*nats-server, postgres/);
  expect(children.filter((pid) => readProcess(pid))).toEqual([]);
  expect(weir.connection()).toMatchObject({ apiKey, spaceId, password, databaseUrl, natsUrl });
  expect(await runPrintedCurl(next.output())).toEqual({ message: 'Queued 1 event.' });
});

test('kill -9 of npm stops everything, an immediate second start works, and its npm exits after everything has stopped', {
  timeout,
}, async () => {
  await using weir = createWeirDirectory();
  const killed = weir.launch({}, ['npm', 'start']);
  await killed.ready();
  const killedPids = weir.pids();
  process.kill(killed.pid, 'SIGKILL');
  const next = weir.launch({}, ['npm', 'start']);
  await next.ready();
  expect(killedPids.filter((pid) => readProcess(pid))).toEqual([]);

  const pids = weir.pids();
  expect(pids).not.toEqual([]);
  // Its stdout is closed; it must still stop in order.
  next.closeOutput();
  next.kill('SIGTERM');
  await next.exited;
  expect(pids.filter((pid) => readProcess(pid))).toEqual([]);
});

test('two ports in use are both reported before anything is started', async () => {
  await using weir = createWeirDirectory();
  await using ingest = await occupyPort();
  await using dashboard = await occupyPort();
  const launched = weir.launch({ INGEST_PORT: `${ingest.port}`, DASHBOARD_PORT: `${dashboard.port}` });
  expect(await launched.exited).toBe(1);
  expect(launched.output()).toContain(`Port ${ingest.port} on 127.0.0.1 is in use`);
  expect(launched.output()).toContain(`Port ${dashboard.port} on 127.0.0.1 is in use`);
  expect(weir.record().children).toEqual([]);
});

test('SIGTERM during the start leaves no process', async () => {
  await using weir = createWeirDirectory();
  const launched = weir.launch();
  await until(() => launched.output().includes('✓ preflight'));
  launched.kill('SIGTERM');
  await launched.exited;
  expect(weir.pids()).toEqual([]);
});

/** Runs the printed command in a shell. */
async function runPrintedCurl(output: string): Promise<{ message?: string }> {
  const line = output.split('\n').find((text) => text.startsWith('curl ')) ?? 'false';
  const { stdout } = await promisify(execFile)('sh', ['-c', line]);
  return JSON.parse(stdout);
}

async function occupyPort(): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return { port: address.port, [Symbol.asyncDispose]: async () => void server.close() };
}
