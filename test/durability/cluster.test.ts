import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect, inject, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { writePidFile } from '../../harness/system/pid-file.ts';
import { PortTakenError } from '../../launcher/process/server-process.ts';
import { startOnFreePorts } from '../../launcher/provision/ports.ts';
import { parseConfig } from '../../platform/config.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { queueStreams } from '../../platform/queue/settings.ts';
import { issueApiKey } from '../../store/accounts/api-keys.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { postEvents } from '../support/http.ts';
import { type ServiceProcess, startService } from '../support/service-process.ts';
import { createDatabase } from '../support/test-servers.ts';
import { countRows, countUsage, until } from '../support/wait.ts';

const example = (name: string) =>
  readFileSync(new URL(`../../examples/cluster/${name}`, import.meta.url), 'utf8');
const nodes = [1, 2, 3];

/** Starts the example configuration on loopback. @throws PortTakenError when a nats-server ends. */
async function startExample(ports: readonly number[]) {
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(inject('runDirectory'), 'example-cluster-'));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  let hasEnded = false;
  const usual = [4222, 6222, 8222];
  const portOf = (node: number, port: number) => ports[3 * usual.indexOf(port) + node - 1];
  const move = (text: string, own?: number) =>
    text
      .replaceAll(/nats-(\d):(\d+)/g, (_, node, port) => `127.0.0.1:${portOf(Number(node), Number(port))}`)
      .replaceAll(/0\.0\.0\.0:(\d+)/g, (_, port) => `127.0.0.1:${portOf(own ?? 0, Number(port))}`)
      .replace('20GB', '1GB');
  const pids = nodes.map((node) => {
    const storeDir = join(directory, `store-${node}`);
    const configFile = join(directory, `nats-${node}.conf`);
    mkdirSync(storeDir);
    writeFileSync(configFile, move(example(`nats-${node}.conf`), node).replace('/var/lib/nats', storeDir));
    const child = spawn(inject('natsServerBinary'), ['--config', configFile], { stdio: 'ignore' });
    writePidFile(join(directory, `pid-${node}`), child.pid ?? 0);
    const ended = once(child, 'exit').then(() => {
      hasEnded = true;
    });
    stack.defer(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return child.pid ?? 0;
  });
  const variables = {
    ...parseEnv(move(example('weir.env'))),
    QUEUE_BYTES_MAX: '500000000',
    INGEST_HOST: '127.0.0.1',
    INGEST_PORT: '0',
  } as Record<string, string>;
  await until(async () => {
    if (hasEnded) throw new PortTakenError('a nats-server of the cluster has ended');
    const answers = nodes.map((node) => fetch(`http://127.0.0.1:${portOf(node, 8222)}/healthz`));
    return (await Promise.allSettled(answers)).every((one) => one.status === 'fulfilled' && one.value.ok);
  });
  const owned = stack.move();
  return { pids, variables, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test('with the example configuration, two ingests and two writers continue when the leader of the first stream is killed', async () => {
  await using stack = new AsyncDisposableStack();
  const { pids, variables } = stack.use(await startOnFreePorts(9, startExample));
  const database = stack.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 0 };
  const sql = stack.use(openPostgres(database.url, options));
  const env = { ...variables, DATABASE_URL: database.url };
  const start = async (name: 'ingest' | 'writer'): Promise<ServiceProcess> =>
    stack.use(await startService(name, env));
  const services = await Promise.all([start('ingest'), start('ingest'), start('writer'), start('writer')]);
  const urls = services.slice(0, 2).map(({ ready }) => ready.url ?? '');
  const db = openDatabase(sql);
  const { id: spaceId } = await createSpace(db, 'test', {});
  const pepper = variables.API_KEY_PEPPER ?? '';
  const tenant = { spaceId, ...(await issueApiKey(db, spaceId, { name: 'test', pepper })) };

  const accepted: string[] = [];
  let isOver = false;
  const clients = urls.map(async (url) => {
    while (!isOver) {
      const events = someEvents(5);
      const answer = await postEvents({ url }, tenant, events);
      expect([202, 503]).toContain(answer.status);
      if (answer.status !== 202) continue;
      accepted.push(...events.map(({ id }) => String(id)));
    }
  });
  await until(() => accepted.length > 200);
  const leader = pids[await findLeader(variables)];
  if (leader === undefined) throw new Error('the leader is no node of the cluster');
  process.kill(leader, 'SIGKILL');
  const before = accepted.length;
  // `npm run chaos` measures how soon (cluster-kill-leader).
  await until(() => accepted.length > before + 500);
  isOver = true;
  await Promise.all(clients);
  // The killed node's stream needs a new leader, and its delivered messages are redelivered after ack_wait.
  await until(async () => (await countRows({ sql }, spaceId)) >= accepted.length, 60_000);
  const rows = await sql<{ id: string }[]>`SELECT id FROM events WHERE space_id = ${spaceId}`;
  const stored = new Set(rows.map(({ id }) => id));
  expect(accepted.filter((id) => !stored.has(id))).toEqual([]);
  expect(await countUsage({ database: db }, spaceId)).toBe(stored.size);
});

/** The index of the node that leads the first stream, to which every ingest publishes first. */
async function findLeader(variables: Record<string, string>): Promise<number> {
  const config = parseConfig(variables);
  await using connection = await connectQueue(config.NATS_URL ?? '', 'test');
  const manager = await jetstreamManager(connection);
  const leaders = async () =>
    Promise.all(
      queueStreams(config).map(async ({ name }) => (await manager.streams.info(name)).cluster?.leader),
    );
  let found: (string | undefined)[] = [];
  await until(async () => {
    found = await leaders();
    return !found.includes(undefined) && new Set(found).size === 2;
  });
  return Number(found[0]?.replace('nats-', '')) - 1;
}
