import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultRun } from '../fault.ts';
import { publishesNothing } from '../minority.ts';
import { findStreamLeaders } from '../stream-leaders.ts';
import { proxiesOf } from './links.ts';

/** Three nats-servers, and two of everything else that there can be two of. */
const system = { natsServers: 3, ingests: 2, writers: 2, proxied: true } as const;

/** Row 19 is about one node out of three: something is accepted again within this, the fault still going on. */
const unavailableMsMax = 5_000;

/** Raft's elections take 4 to 9 s, so a cluster that had no majority is back only after one. */
const electionMsMax = 20_000;

/** A node that leads one of the streams. */
async function pickLeader({ system, random }: FaultRun): Promise<string> {
  const leaders = await findStreamLeaders(system);
  return leaders[random.between(0, leaders.length - 1)] ?? 'nats-1';
}

/** The cluster is whole again before the next fault. */
async function settle({ system, journal }: FaultRun): Promise<void> {
  await Promise.all(system.parts.map((part) => part.untilRunning()));
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
      const leader = run.system.part(await pickLeader(run));
      leader.hold();
      leader.kill('SIGKILL');
      await leader.untilDown();
      await sleep(run.random.between(3_000, run.thorough ? 15_000 : 6_000));
      leader.release();
      await settle(run);
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
    const leader = run.system.part(await pickLeader(run));
    leader.kill('SIGSTOP');
    try {
      await sleep(run.thorough ? run.random.between(5_000, 30_000) : 10_000);
    } finally {
      leader.kill('SIGCONT');
    }
    await settle(run);
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
    "three nodes, a stream's leader cut off from the others, but not from its clients; it confirms nothing",
  system,
  unavailableMsMax,
  inject: (run) => cutLeader(run, false),
};

/** Cuts a leader off, by resets or in silence, and asks it to confirm something that it must not. */
async function cutLeader(run: FaultRun, isCutFromClients: boolean): Promise<void> {
  const { system, random, thorough } = run;
  const proxies = proxiesOf(system);
  const leader = await pickLeader(run);
  const cut = [...proxies.routesOf(leader), ...(isCutFromClients ? proxies.clientsOf(leader) : [])];
  const isSilent = random.between(0, 1) === 1;
  run.log(`${leader} is cut off, ${isSilent ? 'in silence' : 'by resets'}`);
  try {
    for (const proxy of cut) await (isSilent ? proxy.blackhole() : proxy.cut());
    const holdMs = random.between(6_000, thorough ? 20_000 : 10_000);
    await publishesNothing(system, leader, holdMs);
  } finally {
    await proxies.heal();
  }
  await settle(run);
}

export const clusterNoMajority: Fault = {
  name: 'cluster-no-majority',
  row: 19,
  title: 'three nodes, two of them down: the third confirms nothing',
  system,
  recoveryMsMax: electionMsMax,
  async inject(run) {
    const { system, random, thorough } = run;
    const left = `nats-${random.between(1, 3)}`;
    const others = system.parts.filter(({ kind, name }) => kind === 'nats' && name !== left);
    for (const part of others) part.hold();
    for (const part of others) part.kill('SIGKILL');
    await Promise.all(others.map((part) => part.untilDown()));
    await publishesNothing(system, left, random.between(3_000, thorough ? 20_000 : 5_000));
    for (const part of others) part.release();
    await Promise.all(others.map((part) => part.untilRunning()));
  },
};
