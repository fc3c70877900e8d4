import { jetstreamManager } from '@nats-io/jetstream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startNatsCluster } from '../../test/support/nats-cluster.ts';
import { until } from '../../test/support/wait.ts';
import { parseConfig } from '../config.ts';
import { connectQueue } from './connect.ts';
import { openPublisher } from './failover.ts';
import { keepLeadersApart } from './leaders.ts';
import { consumerName, type QueueStream, queueStreams } from './settings.ts';
import { ensureStream } from './stream.ts';

test('a cluster keeps three copies of two streams, and processes that start together make them once', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  await Promise.all([ensureStream(connection, config), ensureStream(connection, config)]);
  const manager = await jetstreamManager(connection);
  for (const { name } of queueStreams(config)) {
    const { config: stream } = await manager.streams.info(name);
    expect([stream.num_replicas, stream.max_bytes]).toEqual([3, 1_000_000]);
    expect((await manager.consumers.info(name, consumerName)).cluster?.replicas).toHaveLength(2);
  }
});

test('a queue of one copy grows to three, and one of three is refused by who knows of one', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  const single = { ...config, NATS_REPLICAS: 1 as const };
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  await ensureStream(connection, single);
  await ensureStream(connection, config);
  const manager = await jetstreamManager(connection);
  const [first] = queueStreams(config);
  expect((await manager.streams.info(first?.name ?? '')).config.num_replicas).toBe(3);
  await expect(ensureStream(connection, single)).rejects.toThrow(/num_replicas must be 1/);
});

test('services start while a node is away, and while the cluster is choosing a leader, but not on one node alone', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  {
    await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
    await ensureStream(connection, config);
  }
  const kill = async (number: number) => {
    const member = cluster.members[number];
    if (member === undefined) throw new Error('no such member');
    process.kill(member.pid, 'SIGKILL');
    await member.exited;
  };
  const metaLeader = await findMetaLeader(cluster.members.map(({ monitorUrl }) => monitorUrl));
  await kill(metaLeader);
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  // The first of the list may be the one that is away, and is not to be forgotten for it.
  expect(connection.getServers().map(({ listen }) => listen)).toEqual(
    expect.arrayContaining(cluster.members.map(({ port }) => `127.0.0.1:${port}`)),
  );
  await ensureStream(connection, config);
  await kill((metaLeader + 1) % 3);
  await expect(ensureStream(connection, config)).rejects.toThrow(/monitoring port does not answer/);
});

test('two streams that are led from one node are led from two again', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  await ensureStream(connection, config);
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
  using _ = keepLeadersApart(connection, manager, streams, pino({ level: 'silent' }));
  await until(async () => {
    const leaders = await findLeaders();
    return !leaders.includes(undefined) && new Set(leaders).size === 2;
  });
});

test('a message goes to the other stream while nobody leads the first', async () => {
  await using cluster = await startNatsCluster();
  const config = parseConfig({ ...cluster.variables, QUEUE_BYTES_MAX: '2000000' });
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  await ensureStream(connection, config);
  const manager = await jetstreamManager(connection);
  const publisher = openPublisher(connection, queueStreams(config), () => {});
  const [first, second] = queueStreams(config);
  expect(await publisher.publish(Buffer.from('a'), 'a')).toEqual({ stream: first?.name, sequence: 1 });
  // As for the client, nobody takes its messages.
  await manager.streams.delete(first?.name ?? '');
  expect(await publisher.publish(Buffer.from('b'), 'b')).toEqual({ stream: second?.name, sequence: 1 });
  expect(await publisher.publish(Buffer.from('c'), 'c')).toEqual({ stream: second?.name, sequence: 2 });
});

test('every node of a cluster has to fsync every message', async () => {
  await using cluster = await startNatsCluster();
  await using other = await startNatsCluster();
  const [ours, theirs] = [cluster, other].map(({ variables }) => variables.NATS_MONITOR_URL.split(','));
  await using connection = await connectQueue(cluster.variables.NATS_URL, 'test');
  const strange = { ...cluster.variables, NATS_MONITOR_URL: (theirs ?? []).join(',') };
  await expect(ensureStream(connection, parseConfig(strange))).rejects.toThrow(/another server/);
  const tooFew = { ...cluster.variables, NATS_MONITOR_URL: ours?.[0] };
  await expect(ensureStream(connection, parseConfig(tooFew))).rejects.toThrow(/NATS_MONITOR_URL/);
});

/** The number of the member that leads the cluster's JetStream. */
async function findMetaLeader(monitorUrls: string[]): Promise<number> {
  const report = await (await fetch(new URL('/jsz', monitorUrls[0]))).json();
  const { leader } = (report as { meta_cluster: { leader: string } }).meta_cluster;
  return Number(leader.replace('nats-', ''));
}
