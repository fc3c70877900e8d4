import { setTimeout as sleep } from 'node:timers/promises';
import { requireProxies } from '../../system/service-proxies.ts';
import { assertNoPubAck } from '../cluster/minority-node.ts';
import { findStreamLeaders } from '../cluster/stream-leaders.ts';
import type { Fault, FaultRun } from '../fault.ts';

/** Three nats-servers, two ingests and two writers. */
const system = { natsServers: 3, ingests: 2, writers: 2, proxied: true } as const;

/** One of three nodes fails: events are accepted again within this time, while the fault continues (row 19). */
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
