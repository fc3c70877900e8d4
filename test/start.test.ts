import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readConnection } from '../lib/connection.ts';
import { readProcess } from '../scripts/start/process-identity.ts';
import { until } from './support/wait.ts';
import { makeWeir, type Weir } from './support/weir.ts';

test('the printed curl works, a second start is refused, and SIGTERM leaves no process', async () => {
  await using weir = makeWeir();
  const first = weir.launch();
  await first.ready();
  expect(await runPrintedCurl(first.output())).toEqual({ message: 'Queued 1 event.' });

  const second = weir.launch();
  expect(await second.ended).toBe(1);
  expect(second.output()).toContain('Weir already runs in this data directory');

  const pids = weir.pids();
  expect(pids).toHaveLength(6);
  first.kill('SIGTERM');
  expect(await first.ended).toBe(0);
  expect(pids.filter((pid) => readProcess(pid))).toEqual([]);
  expect(readConnection(weir.dataDir)).toBeUndefined();
});

test('whatever is killed is started again at the same address', async () => {
  await using weir = makeWeir();
  const launched = weir.launch();
  await launched.ready();
  const before = weir.connection();
  for (const name of ['postgres', 'nats-server', 'ingest', 'writer', 'dashboard-api']) {
    const pid = pidOf(weir, name);
    process.kill(pid, 'SIGKILL');
    await until(() => launched.output().includes(`${name} runs again`));
    expect(launched.output()).toContain(`${name} ended (signal SIGKILL)`);
    expect(pidOf(weir, name)).not.toBe(pid);
    await until(async () => (await runPrintedCurl(launched.output())).message === 'Queued 1 event.');
  }
  expect(weir.connection()).toEqual(before);
});

test('a start after kill -9 of the supervisor stops what it left, and keeps key and addresses', async () => {
  await using weir = makeWeir();
  const killed = weir.launch();
  await killed.ready();
  const { apiKey, spaceId, password, databaseUrl, natsUrl } = weir.connection();
  const children = weir.record().children.map(({ pid }) => pid);
  killed.kill('SIGKILL');
  await killed.ended;
  const next = weir.launch();
  await next.ready();
  expect(next.output()).toMatch(/stopped what a killed start had left: .*nats-server, postgres/);
  expect(children.filter((pid) => readProcess(pid))).toEqual([]);
  expect(weir.connection()).toMatchObject({ apiKey, spaceId, password, databaseUrl, natsUrl });
  expect(await runPrintedCurl(next.output())).toEqual({ message: 'Queued 1 event.' });
});

test('kill -9 of npm stops everything, and a start right after it works', async () => {
  await using weir = makeWeir();
  const killed = weir.launch({}, ['npm', 'start']);
  await killed.ready();
  const pids = weir.pids();
  process.kill(killed.pid, 'SIGKILL');
  const next = weir.launch();
  await next.ready();
  expect(pids.filter((pid) => readProcess(pid))).toEqual([]);
});

test('SIGTERM to npm ends npm only after everything has stopped, also when nobody reads its output', async () => {
  await using weir = makeWeir();
  const launched = weir.launch({}, ['npm', 'start']);
  await launched.ready();
  const pids = weir.pids();
  launched.closeOutput();
  launched.kill('SIGTERM');
  await launched.ended;
  expect(pids.filter((pid) => readProcess(pid))).toEqual([]);
});

test('ports in use are both named, before anything is started', async () => {
  await using weir = makeWeir();
  await using ingest = await occupyPort();
  await using dashboard = await occupyPort();
  const launched = weir.launch({ INGEST_PORT: `${ingest.port}`, DASHBOARD_PORT: `${dashboard.port}` });
  expect(await launched.ended).toBe(1);
  expect(launched.output()).toContain(`Port ${ingest.port} on 127.0.0.1 is in use`);
  expect(launched.output()).toContain(`Port ${dashboard.port} on 127.0.0.1 is in use`);
  expect(weir.record().children).toEqual([]);
});

test('SIGTERM while it starts leaves no process', async () => {
  await using weir = makeWeir();
  const launched = weir.launch();
  await until(() => launched.output().includes('✓ surroundings'));
  launched.kill('SIGTERM');
  await launched.ended;
  expect(weir.pids()).toEqual([]);
});

function pidOf(weir: Weir, name: string): number {
  return weir.record().children.find((child) => child.name === name)?.pid ?? -1;
}

/** Pastes the line into a shell, as a user does. */
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
