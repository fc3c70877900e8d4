import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type NatsServer, startNatsServer } from '../../scripts/provision/nats-server.ts';
import { startOnFreePorts } from '../../scripts/provision/ports.ts';

/** Three nats-servers of the test's own, as a cluster. */
export interface NatsCluster extends AsyncDisposable {
  /** By the number in their names, from `nats-0` on. */
  readonly members: NatsServer[];
  /** What services are told. */
  readonly variables: { NATS_URL: string; NATS_MONITOR_URL: string; NATS_REPLICAS: string };
  /** Starts a member again that was killed, on its ports and its store. */
  restart(member: number): Promise<void>;
}

const memberNumbers = [0, 1, 2];

export async function startNatsCluster(): Promise<NatsCluster> {
  const directory = mkdtempSync(join(inject('runDirectory'), 'nats-cluster-'));
  const cluster = await startOnFreePorts(9, async (ports) => {
    const start = (number: number) => startMember(directory, ports, number);
    const starts = await Promise.allSettled(memberNumbers.map(start));
    const members = starts.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
    const failed = starts.find((one) => one.status === 'rejected');
    if (failed === undefined) return { members, start };
    await Promise.all(members.map((member) => member.stop()));
    throw failed.reason;
  });
  const { members, start } = cluster;
  return {
    members,
    variables: {
      NATS_URL: members.map(({ url }) => url).join(','),
      NATS_MONITOR_URL: members.map(({ monitorUrl }) => monitorUrl).join(','),
      NATS_REPLICAS: '3',
    },
    restart: async (number) => {
      members[number] = await start(number);
    },
    async [Symbol.asyncDispose]() {
      // A paused one would not hear that it is to stop.
      await Promise.all(members.map((member) => member.stop()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function startMember(directory: string, ports: readonly number[], number: number): Promise<NatsServer> {
  const portAt = (index: number) => ports[index] ?? 0;
  const others = memberNumbers.filter((other) => other !== number);
  const name = `nats-${number}`;
  return startNatsServer({
    binary: inject('natsServerBinary'),
    storeDir: join(directory, name),
    logFile: join(directory, `${name}.log`),
    password: 'test',
    maxFileBytes: 1024 ** 3,
    port: portAt(number),
    monitorPort: portAt(3 + number),
    cluster: {
      name,
      port: portAt(6 + number),
      routes: others.map((other) => `127.0.0.1:${portAt(6 + other)}`),
    },
    // Found and killed at the end of the run, should the test not come to its end.
    onSpawn: (pid) => writeFileSync(join(directory, `pid-${number}`), String(pid)),
  });
}
