import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { clusterMember } from '../../harness/system/nats-member.ts';
import { writePidFile } from '../../harness/system/pid-file.ts';
import { type NatsServer, startNatsServer } from '../../launcher/provision/nats/nats-server.ts';
import { startOnFreePorts } from '../../launcher/provision/ports.ts';

/** A cluster of three nats-servers for one test. */
export interface NatsCluster extends AsyncDisposable {
  /** Indexed by the number in their names: `nats-0`, … */
  readonly members: NatsServer[];
  /** The configuration of services that use the cluster. */
  readonly variables: { NATS_URL: string; NATS_MONITOR_URL: string; NATS_REPLICAS: string };
  /** Restarts a killed member with the same ports and store. */
  restart(member: number): Promise<void>;
  /** Deletes the store of a killed member. */
  eraseStore(member: number): void;
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
    eraseStore: (number) => rmSync(storeDirOf(directory, number), { recursive: true }),
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map((member) => member.stop()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function storeDirOf(directory: string, number: number): string {
  return join(directory, `nats-${number}`);
}

function startMember(directory: string, ports: readonly number[], number: number): Promise<NatsServer> {
  const portAt = (index: number) => ports[index] ?? 0;
  const others = memberNumbers.filter((other) => other !== number);
  const [name, password] = [`nats-${number}`, 'test'];
  return startNatsServer({
    binary: inject('natsServerBinary'),
    storeDir: storeDirOf(directory, number),
    logFile: join(directory, `${name}.log`),
    password,
    maxFileBytes: 1024 ** 3,
    port: portAt(number),
    monitorPort: portAt(3 + number),
    member: clusterMember({
      name,
      port: portAt(6 + number),
      routes: others.map((other) => `127.0.0.1:${portAt(6 + other)}`),
      password,
    }),
    onSpawn: (pid) => writePidFile(join(directory, `pid-${number}`), pid),
  });
}
