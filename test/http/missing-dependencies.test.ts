import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { expect, inject, test } from 'vitest';
import { runProgram } from '../../launcher/process/run-program.ts';
import { startOnFreePorts } from '../../launcher/provision/ports.ts';
import { urlOfRole } from '../../launcher/provision/postgres/roles.ts';
import { startService as launchService } from '../../launcher/supervise/service-process.ts';
import { serviceNames } from '../../platform/config/services.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { firstStream } from '../../platform/queue/settings.ts';
import { inheritedEnvironment } from '../support/run/inherited-environment.ts';
import { startService } from '../support/service-process.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

const { pipeline } = usePipeline();

/** Starts a service with a database that may be missing. */
const launch = (
  name: (typeof serviceNames)[number],
  variables: Record<string, string>,
  signal?: AbortSignal,
) =>
  launchService({
    name,
    env: { ...inheritedEnvironment(), METRICS_PORT: '0', ...pipeline.variables, ...variables },
    logFile: join(inject('runDirectory'), `${name}-${crypto.randomUUID()}.log`),
    onSpawn: () => {},
    ...(signal && { signal }),
  });

const readReadiness = async (metricsUrl = '') => {
  const response = await fetch(`${metricsUrl}/readyz`);
  return { status: response.status, ...((await response.json()) as { waitingFor: string[] }) };
};

test.each(serviceNames)('%s does not start with a wrong password or database, and says so', async (name) => {
  const url = new URL(urlOfRole(pipeline.variables.DATABASE_URL ?? '', name));
  const missing = Object.assign(new URL(url), { pathname: '/missing' });
  const wrong = Object.assign(new URL(url), { password: 'wrong' });
  await expect(launch(name, { DATABASE_URL: missing.href })).rejects.toThrow(/has no database missing/);
  await expect(launch(name, { DATABASE_URL: wrong.href })).rejects.toThrow(
    /rejects the password of weir_.*Fix DATABASE_URL/,
  );
});

test('a writer that waits for Postgres in its start says so', async () => {
  const stop = new AbortController();
  await startOnFreePorts(1, async ([port = 0]) => {
    const DATABASE_URL = 'postgres://weir_writer:secret@127.0.0.1:1/weir';
    const started = launch('writer', { DATABASE_URL, METRICS_PORT: String(port) }, stop.signal);
    const ended = expect(started).rejects.toThrow();
    const read = () => readReadiness(`http://127.0.0.1:${port}`).catch(() => undefined);
    await until(async () => (await read())?.waitingFor.includes('postgres') === true);
    expect(await read()).toMatchObject({ status: 503, waitingFor: ['postgres'] });
    stop.abort();
    await ended;
  });
});

test('each service names nats-server while its disk is full; the dashboard serves its pages', async () => {
  await using dashboard = await startService('dashboard-api', { ...pipeline.variables, DASHBOARD_PORT: '0' });
  await until(async () => (await readReadiness(dashboard.ready.metricsUrl)).waitingFor.length === 0);
  await using connection = await connectQueue(pipeline.nats.url, 'test');
  const publish = () =>
    jetstream(connection).publish(firstStream.subject, Buffer.alloc(100_000), { timeout: 1_000 });
  await publish();
  // Limits the size of its files: the next write fails as on a full disk.
  await runProgram('prlimit', ['--pid', String(pipeline.nats.pid), '--fsize=150000'], { timeoutMs: 5_000 });
  await until(async () => (await publish().catch(() => undefined)) === undefined);
  for (const service of [pipeline.ingest, pipeline.writer]) {
    await until(async () => (await readReadiness(service.ready.metricsUrl)).waitingFor.length > 0);
    expect(await readReadiness(service.ready.metricsUrl)).toMatchObject({
      status: 503,
      waitingFor: ['nats'],
    });
  }
  expect(await readReadiness(dashboard.ready.metricsUrl)).toMatchObject({
    status: 200,
    waitingFor: ['nats'],
  });
});
