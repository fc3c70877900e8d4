import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { encodeGroup } from '../../../platform/queue/group.ts';
import { queueStreams } from '../../../platform/queue/settings.ts';
import { controlStream } from '../../../store/control/stream.ts';
import { requireProxies } from '../../system/service-proxies.ts';
import type { System } from '../../system/system.ts';
import type { Fault, FaultRun } from '../fault.ts';

/** Three nats-servers, two ingests and two writers. */
const system = { natsServers: 3, ingests: 2, writers: 2, proxied: true } as const;

/**
 * One of three nodes fails: events are accepted again within this time, while the fault continues (row 19).
 */
const unavailableMsMax = 5_000;

/** A cluster that lost its majority recovers only after a Raft election, which takes 4 to 9 s. */
const electionMsMax = 20_000;

/** Chooses a node that leads one of the streams. */
async function pickLeader({ system, random }: FaultRun): Promise<string> {
  const leaders = await findStreamLeaders(system);
  return leaders[random.between(0, leaders.length - 1)] ?? 'nats-1';
}

/** Waits until the cluster has recovered, so that the next fault is the only one. */
async function untilRecovered({ system, journal }: FaultRun): Promise<void> {
  await Promise.all(system.processes.map((one) => one.untilRunning()));
  await findStreamLeaders(system);
  await journal.untilAccepted(1);
}

export const clusterKillLeader: Fault = {
  name: 'cluster-kill-leader',
  row: 19,
  title: "three nodes, a stream's leader killed and kept down past the election",
  system,
  unavailableMsMax,
  async inject(run) {
    for (let times = run.thorough ? 3 : 1; times > 0; times--) {
      const leader = run.system.process(await pickLeader(run));
      leader.hold();
      leader.kill('SIGKILL');
      await leader.untilDown();
      await sleep(run.random.between(3_000, run.thorough ? 15_000 : 6_000));
      leader.release();
      await untilRecovered(run);
    }
  },
};

export const clusterPauseLeader: Fault = {
  name: 'cluster-pause-leader',
  row: 19,
  title: "three nodes, a stream's leader paused for 10 s",
  system,
  unavailableMsMax,
  async inject(run) {
    const leader = run.system.process(await pickLeader(run));
    leader.kill('SIGSTOP');
    try {
      await sleep(run.thorough ? run.random.between(5_000, 30_000) : 10_000);
    } finally {
      leader.kill('SIGCONT');
    }
    await untilRecovered(run);
  },
};

export const clusterCutLeader: Fault = {
  name: 'cluster-cut-leader',
  row: 19,
  title: "three nodes, a stream's leader cut off from the others and from its clients",
  system,
  unavailableMsMax,
  inject: (run) => cutLeader(run, true),
};

export const clusterCutRoutes: Fault = {
  name: 'cluster-cut-routes',
  row: 19,
  title:
    "three nodes, a stream's leader cut off from the others, but not from its clients; it acknowledges nothing",
  system,
  unavailableMsMax,
  inject: (run) => cutLeader(run, false),
};

/** Partitions a leader, by resets or silently, and publishes to it: it must not acknowledge anything. */
async function cutLeader(run: FaultRun, isCutFromClients: boolean): Promise<void> {
  const { system, random, thorough } = run;
  const proxies = requireProxies(system);
  const leader = await pickLeader(run);
  const cut = [...proxies.routesOf(leader), ...(isCutFromClients ? proxies.clientsOf(leader) : [])];
  const isSilent = random.between(0, 1) === 1;
  run.log(`${leader} is partitioned, ${isSilent ? 'silently' : 'by resets'}`);
  try {
    for (const proxy of cut) await (isSilent ? proxy.blackhole() : proxy.cut());
    const holdMs = random.between(6_000, thorough ? 20_000 : 10_000);
    await assertNoPubAck(system, leader, holdMs);
  } finally {
    await proxies.heal();
  }
  await untilRecovered(run);
}

export const clusterNoMajority: Fault = {
  name: 'cluster-no-majority',
  row: 19,
  title: 'three nodes, two of them down: the third acknowledges nothing',
  system,
  recoveryMsMax: electionMsMax,
  async inject(run) {
    const { system, random, thorough } = run;
    const remaining = `nats-${random.between(1, 3)}`;
    const others = system.processes.filter(({ kind, name }) => kind === 'nats' && name !== remaining);
    for (const one of others) one.hold();
    for (const one of others) one.kill('SIGKILL');
    await Promise.all(others.map((one) => one.untilDown()));
    await assertNoPubAck(system, remaining, random.between(3_000, thorough ? 20_000 : 5_000));
    for (const one of others) one.release();
    await Promise.all(others.map((one) => one.untilRunning()));
  },
};

interface StreamReport {
  account_details?: { stream_detail?: { name: string; cluster?: { leader?: string } }[] }[];
}

const requestTimeoutMs = 1_000;
const pollMs = 50;
const leaderTimeoutMs = 60_000;

/**
 * Waits until the cluster has recovered: every server is healthy, its replicas are current, and each stream
 * is led by another server. Otherwise the next fault would overlap with the last one.
 *
 * @returns the names of the nats-servers (`nats-1`) that lead the queue's streams.
 */
async function findStreamLeaders(system: Pick<System, 'monitorUrls'>): Promise<string[]> {
  const deadlineMs = performance.now() + leaderTimeoutMs;
  for (;;) {
    const leaders = [...(await readLeaders(system)).values()];
    const isLed = leaders.length > 0 && new Set(leaders).size === leaders.length && !leaders.includes('');
    if (isLed && (await areHealthy(system))) return leaders;
    if (performance.now() > deadlineMs) {
      throw new Error(`the cluster did not recover; the leaders of its streams: ${leaders.join(', ')}`);
    }
    await sleep(pollMs);
  }
}

async function areHealthy({ monitorUrls }: Pick<System, 'monitorUrls'>): Promise<boolean> {
  const responses = await Promise.allSettled(
    monitorUrls.map((url) =>
      fetch(new URL('/healthz', url), { signal: AbortSignal.timeout(requestTimeoutMs) }),
    ),
  );
  return responses.every((response) => response.status === 'fulfilled' && response.value.ok);
}

/** The server that reports itself as the leader of each stream; empty for a stream without one. */
async function readLeaders({ monitorUrls }: Pick<System, 'monitorUrls'>): Promise<Map<string, string>> {
  const leaders = new Map<string, string>();
  const reports = await Promise.allSettled(
    monitorUrls.map(async (url) => {
      const signal = AbortSignal.timeout(requestTimeoutMs);
      return (await (await fetch(new URL('/jsz?streams=1', url), { signal })).json()) as StreamReport;
    }),
  );
  for (const [i, report] of reports.entries()) {
    if (report.status === 'rejected') continue;
    const own = `nats-${i + 1}`;
    for (const { name, cluster } of report.value.account_details?.[0]?.stream_detail ?? []) {
      // Nothing keeps the leader of the control stream away from those of the queue.
      if (name === controlStream.name) continue;
      if (cluster?.leader === own) leaders.set(name, own);
      else if (!leaders.has(name)) leaders.set(name, '');
    }
  }
  return leaders;
}

const publishTimeoutMs = 500;

/**
 * Publishes to every stream through one node, without a proxy, for some time. The message is a group without
 * parts, which the writer would ignore.
 *
 * @throws Error when the node acknowledges a message: a minority must not.
 */
async function assertNoPubAck(
  { natsUrls }: Pick<System, 'natsUrls'>,
  name: string,
  holdMs: number,
): Promise<void> {
  const url = natsUrls[Number(name.replace('nats-', '')) - 1];
  if (url === undefined) throw new Error(`the system has no ${name}`);
  const endMs = performance.now() + holdMs;
  await using connection = await connectQueue(url, 'weir-chaos');
  const client = jetstream(connection);
  const emptyGroup = encodeGroup([]);
  while (performance.now() < endMs) {
    const acks = await Promise.allSettled(
      queueStreams({ NATS_REPLICAS: 3 }).map(({ subject }) =>
        client.publish(subject, emptyGroup, { timeout: publishTimeoutMs }),
      ),
    );
    const ack = acks.find(({ status }) => status === 'fulfilled');
    if (ack?.status === 'fulfilled') {
      throw new Error(`${name} has no majority and acknowledged ${JSON.stringify(ack.value)}`);
    }
    await sleep(publishTimeoutMs / 5);
  }
}
