import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type NatsCluster, startNatsCluster } from '../../test/support/nats-cluster.ts';
import { until } from '../../test/support/wait.ts';
import { parseConfig } from '../config.ts';
import { connectQueue } from './connect.ts';
import { openPublisher } from './failover.ts';
import { keepLeadersApart } from './leader-placement.ts';
import { consumerName, type QueueStream, queueStreams } from './settings.ts';
import { ensureStreams } from './stream.ts';

test('a cluster has three replicas of two streams, and processes that start together create them once', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  await Promise.all([ensureStreams(connection, config), ensureStreams(connection, config)]);
  const manager = await jetstreamManager(connection);
  for (const { name } of queueStreams(config)) {
    const { config: stream } = await manager.streams.info(name);
    expect([stream.num_replicas, stream.max_bytes]).toEqual([3, 1_000_000]);
    expect((await manager.consumers.info(name, consumerName)).cluster?.replicas).toHaveLength(2);
  }
});

test('a queue of one replica grows to three, and NATS_REPLICAS=1 does not accept one of three', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  const single = { ...config, NATS_REPLICAS: 1 as const };
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  await ensureStreams(connection, single);
  await ensureStreams(connection, config);
  const manager = await jetstreamManager(connection);
  const [first] = queueStreams(config);
  expect((await manager.streams.info(first?.name ?? '')).config.num_replicas).toBe(3);
  await expect(ensureStreams(connection, single)).rejects.toThrow(/num_replicas must be 1/);
});

test('services start while one node is down or the cluster elects a leader, but not with two nodes down', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  {
    await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
    await ensureStreams(connection, config);
  }
  const metaLeader = await findMetaLeader(cluster.members.map(({ monitorUrl }) => monitorUrl));
  await killMember(cluster, metaLeader);
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  // A server that was unreachable during the first connect stays in the list.
  expect(connection.getServers().map(({ listen }) => listen)).toEqual(
    expect.arrayContaining(cluster.members.map(({ port }) => `127.0.0.1:${port}`)),
  );
  await ensureStreams(connection, config);
  await killMember(cluster, (metaLeader + 1) % 3);
  await expect(ensureStreams(connection, config)).rejects.toThrow(/monitoring port does not answer/);
});

test('two streams whose leaders are on one node get leaders on two nodes', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  await ensureStreams(connection, config);
  const manager = await jetstreamManager(connection, { timeout: 500 });
  const streams = queueStreams(config);
  // A stream without a leader does not answer.
  const findLeader = ({ name }: QueueStream) =>
    manager.streams.info(name).then(
      ({ cluster }) => cluster?.leader,
      () => undefined,
    );
  const findLeaders = () => Promise.all(streams.map(findLeader));
  const [first, second] = await findLeaders();
  if (first !== second) {
    const preferred = JSON.stringify({ placement: { preferred: first } });
    await connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${streams[1]?.name}`, preferred);
  }
  await until(async () => {
    const leaders = await findLeaders();
    return leaders[0] !== undefined && leaders[0] === leaders[1];
  });
  await using _ = keepLeadersApart({ connection, manager, streams }, pino({ level: 'silent' }));
  await until(async () => {
    const leaders = await findLeaders();
    return !leaders.includes(undefined) && new Set(leaders).size === 2;
  });
});

test('a message goes to the other stream while the first one does not accept it', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  await ensureStreams(connection, config);
  const manager = await jetstreamManager(connection);
  const publisher = openPublisher(connection, queueStreams(config), () => {});
  const [first, second] = queueStreams(config);
  expect(await publisher.publish(Buffer.from('a'), 'a')).toEqual({ stream: first?.name, sequence: 1 });
  // To the client a deleted stream looks like one without a leader: no responders.
  await manager.streams.delete(first?.name ?? '');
  expect(await publisher.publish(Buffer.from('b'), 'b')).toEqual({ stream: second?.name, sequence: 1 });
  expect(await publisher.publish(Buffer.from('c'), 'c')).toEqual({ stream: second?.name, sequence: 2 });
});

test('a message larger than max_payload is a specific error, and the connection is kept', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  await ensureStreams(connection, config);
  const publisher = openPublisher(connection, queueStreams(config), () => {});
  const events = followStatus(connection);
  const oversized = Buffer.alloc((connection.info?.max_payload ?? 0) + 1);
  await expect(publisher.publish(oversized, 'a')).rejects.toThrow(/max_payload size exceeded/);
  const [first] = queueStreams(config);
  expect(await publisher.publish(Buffer.from('b'), 'b')).toEqual({ stream: first?.name, sequence: 1 });
  expect(events).not.toContain('disconnect');
});

test('the connection moves to another server when no stream answers', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  const publisher = openPublisher(connection, queueStreams(config), () => {});
  const events = followStatus(connection);
  const firstServer = connection.info?.server_id;
  await expect(publisher.publish(Buffer.from('a'), 'a')).rejects.toThrow();
  await until(async () => events.includes('reconnect'));
  expect(connection.info?.server_id).not.toBe(firstServer);
});

test('a node that lost its disk catches up, and then another node may be lost', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  await ensureStreams(connection, config);
  const publisher = openPublisher(connection, queueStreams(config), () => {});
  const accepted = new Set<string>();
  const publish = async (id: string) => {
    await publisher.publish(Buffer.from(id), id);
    accepted.add(id);
  };
  const publishSoon = (id: string) =>
    until(() =>
      publish(id).then(
        () => true,
        () => false,
      ),
    );
  for (let i = 0; i < 20; i++) await publish(`before-${i}`);
  await killMember(cluster, 0);
  await publishSoon('without-0');
  cluster.eraseStore(0);
  await cluster.restart(0);
  const manager = await jetstreamManager(connection, { timeout: 500 });
  const readStreams = () =>
    Promise.all(queueStreams(config).map(({ name }) => manager.streams.info(name))).catch(() => []);
  await until(async () => {
    const replicas = (await readStreams()).flatMap(({ cluster }) => cluster?.replicas ?? []);
    return replicas.length === 4 && replicas.every(({ current }) => current);
  });
  await killMember(cluster, 1);
  await publishSoon('without-1');
  const readPayloads = async () => {
    const payloads: string[] = [];
    for (const { config, state } of await readStreams()) {
      // An empty stream begins at 0, which is not a sequence.
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
        payloads.push((await manager.streams.getMessage(config.name, { seq }))?.string() ?? '');
      }
    }
    return payloads;
  };
  await until(async () => {
    // A stream without a leader does not answer.
    const stored = new Set(await readPayloads().catch(() => []));
    return [...accepted].every((id) => stored.has(id));
  });
});

test('services do not start unless the fsync setting of every node of this cluster can be read', async () => {
  await using cluster = await startNatsCluster();
  await using other = await startNatsCluster();
  const [ours, theirs] = [cluster, other].map(({ variables }) => variables.NATS_MONITOR_URL.split(','));
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  const foreign = { ...cluster.variables, NATS_MONITOR_URL: (theirs ?? []).join(',') };
  await expect(ensureStreams(connection, parseConfig(foreign))).rejects.toThrow(/another server/);
  const tooFew = { ...cluster.variables, NATS_MONITOR_URL: ours?.[0] };
  await expect(ensureStreams(connection, parseConfig(tooFew))).rejects.toThrow(/NATS_MONITOR_URL/);
});

async function killMember(cluster: NatsCluster, number: number): Promise<void> {
  const member = cluster.members[number];
  if (member === undefined) throw new Error('no such member');
  process.kill(member.pid, 'SIGKILL');
  await member.exited;
}

/** Collects the status events of a connection. */
function followStatus(connection: NatsConnection): readonly string[] {
  const events: string[] = [];
  void (async () => {
    for await (const { type } of connection.status()) events.push(type);
  })();
  return events;
}

/** The index of the member that is the JetStream meta leader. */
async function findMetaLeader(monitorUrls: string[]): Promise<number> {
  const report = await (await fetch(new URL('/jsz', monitorUrls[0]))).json();
  const { leader } = (report as { meta_cluster: { leader: string } }).meta_cluster;
  return Number(leader.replace('nats-', ''));
}
