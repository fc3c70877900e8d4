import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { createWeirDirectory, type LaunchedWeir } from '../../harness/system/weir.ts';
import { type Connection, readSecrets } from '../../launcher/local-system.ts';
import { readProcess } from '../../launcher/process/process-identity.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { discoverServices, type ServiceReport } from '../../platform/queue/service-discovery.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { runWeir } from '../support/cli/command-line.ts';
import { until } from '../support/wait.ts';

/** On a busy machine. */
const timeout = 400_000;
const waitMs = 180_000;

const serviceScript = fileURLToPath(new URL('../../launcher/service.ts', import.meta.url));
const weir = createWeirDirectory();
const resources = new AsyncDisposableStack();
let launched: LaunchedWeir;
let connection: Connection;
let sql: Sql;
let nats: NatsConnection;
beforeAll(async () => {
  launched = weir.launch({ INGEST_PROCESSES: '2', WRITER_PROCESSES: '2', METRICS_PORT: '0' });
  await launched.ready();
  connection = weir.connection();
  nats = resources.use(await connectQueue(connection.natsUrl, 'test'));
  const pool = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: waitMs };
  sql = resources.use(openPostgres(connection.databaseUrl, pool));
}, timeout);
afterAll(async () => {
  await resources.disposeAsync();
  await weir[Symbol.asyncDispose]();
});

/**
 * Posts on a connection of its own, which the system gives to one of the processes.
 * @returns undefined when it was closed.
 */
function post(url: string, events: readonly object[]): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${connection.apiKey}`, 'Content-Type': 'application/json' };
    const options = { method: 'POST', agent: false, headers } as const;
    request(new URL('/v1/ingest-events', url), options, (response) => {
      response.resume().on('close', () => resolve(response.complete ? response.statusCode : undefined));
    })
      .on('error', () => resolve(undefined))
      .end(JSON.stringify({ events }));
  });
}

/**
 * Sends batches one after the other until it is stopped. Each is retried until it is accepted, as docs/api.md
 * requires.
 */
function startSender(url: string) {
  let isStopping = false;
  const accepted: string[] = [];
  const statuses = new Set<number | undefined>();
  const ended = (async () => {
    while (!isStopping) {
      const events = someEvents(5);
      for (;;) {
        const status = await post(url, events);
        statuses.add(status);
        if (status === 202) break;
        await sleep(20);
      }
      accepted.push(...events.map(({ id }) => String(id)));
    }
  })();
  const stop = async () => {
    isStopping = true;
    await ended;
  };
  return { accepted, statuses, stop };
}

async function readMetric(report: ServiceReport, metric: RegExp): Promise<number> {
  const body = await (await fetch(`${report.metricsUrl}/metrics`)).text();
  const samples = body.split('\n').filter((line) => metric.test(line));
  return samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const acceptedRequests = /^weir_ingest_requests_total\{.*outcome="accepted"/;
const reportsOf = async (service: string) =>
  (await discoverServices(nats)).filter((report) => report.service === service);

test('two ingests share one port, and kill -9 of processes under load loses no event and stores none twice', {
  timeout,
}, async () => {
  for (const service of ['ingest', 'writer']) {
    expect(await reportsOf(service)).toHaveLength(2);
    expect([1, 2].map((number) => existsSync(logFile(`${service}-${number}`)))).toEqual([true, true]);
  }
  expect(existsSync(logFile('ingest'))).toBe(false);

  const senders = Array.from({ length: 6 }, () => startSender(connection.ingestUrl));
  const acceptedCount = () => senders.reduce((sum, { accepted }) => sum + accepted.length, 0);
  // The system distributes connections at random.
  await until(async () => {
    const counts = await Promise.all(
      (await reportsOf('ingest')).map((one) => readMetric(one, acceptedRequests)),
    );
    return counts.length === 2 && counts.every((count) => count > 0);
  }, waitMs);
  const stops: [string, NodeJS.Signals][] = [
    ['ingest-1', 'SIGKILL'],
    ['writer-2', 'SIGKILL'],
    ['ingest-2', 'SIGTERM'],
  ];
  for (const [label, signal] of stops) {
    const before = acceptedCount();
    process.kill(weir.pidOf(label), signal);
    await until(() => launched.output().includes(`${label} restarted`), waitMs);
    await until(() => acceptedCount() > before + 50, waitMs);
  }
  await Promise.all(senders.map(({ stop }) => stop()));
  for (const { statuses } of senders)
    expect([202, 503, undefined]).toEqual(expect.arrayContaining([...statuses]));

  const ids = senders.flatMap(({ accepted }) => accepted);
  expect(await untilStored(ids.length)).toEqual({ rows: ids.length, usage: ids.length });
  const stored = await sql<{ id: string }[]>`SELECT id FROM events`;
  expect(new Set(stored.map(({ id }) => id))).toEqual(new Set(ids));
});

async function untilStored(count: number): Promise<{ rows: number; usage: number } | undefined> {
  const read = async () => {
    const [row] = await sql<{ rows: number; usage: number }[]>`
      SELECT (SELECT count(*)::int FROM events) AS rows, (SELECT sum(events)::int FROM usage_months) AS usage`;
    return row;
  };
  await until(async () => ((await read())?.rows ?? 0) >= count, waitMs);
  return read();
}

test('weir doctor finds all processes, and every one has its metrics and is ready', { timeout }, async () => {
  const { stdout } = await runWeir(['doctor'], { WEIR_DATA_DIR: weir.dataDir });
  const findings = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const services = findings.filter(({ check }) => check.startsWith('services'));
  expect(services.map(({ status }) => status)).toEqual(services.map(() => 'ok'));
  const found = services.find(({ check }) => check === 'services').found;
  expect(['ingest', 'writer'].map((name) => found.split(`${name} (`).length - 1)).toEqual([2, 2]);
  expect(findings.filter(({ status }) => status === 'failed')).toEqual([]);

  const reports = [...(await reportsOf('ingest')), ...(await reportsOf('writer'))];
  expect(new Set(reports.map(({ metricsUrl }) => metricsUrl)).size).toBe(4);
  for (const { metricsUrl } of reports) expect((await fetch(`${metricsUrl}/readyz`)).status).toBe(200);
  // The budget of memory is one for the machine: each of two has half of it.
  for (const report of await reportsOf('ingest'))
    expect(await readMetric(report, /^weir_ingest_in_flight_bytes_max /)).toBe(64 * 1024 ** 2);
});

test('launcher/service.ts runs and restarts several processes of a service, and SIGTERM ends them all', {
  timeout,
}, async () => {
  const own = (await reportsOf('ingest')).map(({ pid }) => pid);
  const group = spawn(execPath, [serviceScript, 'ingest'], {
    env: {
      PATH: env.PATH,
      INGEST_PROCESSES: '2',
      INGEST_PORT: '0',
      METRICS_PORT: '0',
      DATABASE_URL: connection.databaseUrl,
      NATS_URL: connection.natsUrl,
      NATS_MONITOR_URL: connection.natsMonitorUrl,
      API_KEY_PEPPER: readSecrets(weir.dataDir)?.apiKeyPepper,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [text(group.stdout), text(group.stderr)];
  const exited = once(group, 'exit');
  const members = async () => (await reportsOf('ingest')).filter(({ pid }) => !own.includes(pid));
  const untilBoth = async (without?: number) => {
    let pids: number[] = [];
    await until(async () => {
      pids = (await members()).map(({ pid }) => pid);
      return pids.length === 2 && !pids.includes(without ?? 0);
    }, waitMs);
    return pids;
  };
  const [first] = await untilBoth();
  if (first === undefined) throw new Error('no process was found');
  process.kill(first, 'SIGKILL');
  const last = await untilBoth(first);
  group.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  expect(last.filter((pid) => readProcess(pid))).toEqual([]);
  const ready = (await stdout).split('\n').filter((line) => line.includes('"msg":"ready"'));
  expect(new Set(ready.map((line) => JSON.parse(line).url)).size).toBe(1);
  expect(await stderr).toMatch(/^ingest-[12] exited \(signal SIGKILL\).*\ningest-[12] restarted$/m);
});

test('SIGTERM leaves no process', { timeout }, async () => {
  const pids = weir.pids();
  expect(pids).toHaveLength(8);
  // The connections of the test: their servers end.
  await resources.disposeAsync();
  launched.kill('SIGTERM');
  expect(await launched.exited).toBe(0);
  expect(pids.filter((pid) => readProcess(pid))).toEqual([]);
});

const logFile = (label: string) => join(weir.dataDir, 'logs', `${label}.log`);
