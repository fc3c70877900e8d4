import { join } from 'node:path';
import { startNatsServer } from '../provision/nats-server.ts';
import { chooseFreePorts } from '../provision/ports.ts';
import { startPostgres } from '../provision/postgres.ts';
import { watchRecovery } from '../start/watch-recovery.ts';
import { watchWrites } from '../start/watch-writes.ts';
import { type Part, startPart } from './part.ts';
import { openProxies, type ProxiedKind, type Proxies } from './proxies.ts';
import type { SystemContext } from './system.ts';

const password = 'chaos';

/** Of all streams together. Small: no round queues more, and `max_bytes` stays below. */
const natsFileBytesMax = 2 * 1024 ** 3;

/** The Postgres and the nats-servers of a system. */
export interface Backing {
  readonly parts: readonly Part[];
  /** Straight to Postgres; the services may be given another. */
  readonly databaseUrl: string;
  /** Straight to the nats-servers, in the order of their names. */
  readonly natsUrls: readonly string[];
  readonly monitorUrls: readonly string[];
  /** Undefined in a system without. */
  readonly proxies: Proxies | undefined;
  /** What the services of a kind are told. */
  serviceEnv(kind: ProxiedKind): Record<string, string>;
}

export async function startBacking(context: SystemContext): Promise<Backing> {
  const { options, stack } = context;
  const [postgresPort = 0, ...ports] = await chooseFreePorts(1 + 3 * options.natsServers);
  const members = Array.from({ length: options.natsServers }, (_, i) => {
    const [port = 0, monitorPort = 0, clusterPort = 0] = ports.slice(3 * i, 3 * i + 3);
    return { name: `nats-${i + 1}`, port, monitorPort, clusterPort };
  });
  const proxies = options.proxied ? await openProxies(postgresPort, members, stack) : undefined;
  const postgres = await startPostgresPart(context, postgresPort);
  const nats = await Promise.all(
    members.map((member) =>
      startNatsPart(
        context,
        member,
        members
          .filter(({ name }) => name !== member.name)
          .map(({ name, clusterPort }) => {
            const route = proxies?.routes.find(({ from, to }) => from === member.name && to === name);
            return route?.proxy.port ?? clusterPort;
          }),
      ),
    ),
  );
  const databaseUrlAt = (port: number) => `postgres://weir:${password}@127.0.0.1:${port}/weir`;
  const natsUrlAt = (port: number) => `nats://weir:${password}@127.0.0.1:${port}`;
  const monitorUrls = members.map(({ monitorPort }) => `http://127.0.0.1:${monitorPort}`);
  return {
    parts: [postgres, ...nats],
    proxies,
    databaseUrl: databaseUrlAt(postgresPort),
    natsUrls: members.map(({ port }) => natsUrlAt(port)),
    monitorUrls,
    serviceEnv: (kind) => ({
      DATABASE_URL: databaseUrlAt(proxies?.[kind].postgres.port ?? postgresPort),
      NATS_URL: members.map(({ port }, i) => natsUrlAt(proxies?.[kind].nats[i]?.port ?? port)).join(','),
      NATS_MONITOR_URL: monitorUrls.join(','),
      NATS_REPLICAS: String(options.natsServers),
      NATS_ALLOW_UNSYNCED: String(options.natsSyncInterval !== undefined),
      QUEUE_BYTES_MAX: String(options.streamBytesMax ?? natsFileBytesMax / 2),
    }),
  };
}

async function startPostgresPart(context: SystemContext, port: number): Promise<Part> {
  const { directory, options, stack, log } = context;
  const logFile = join(directory, 'logs', 'postgres.log');
  const dataDir = join((await options.storeOf?.('postgres', stack)) ?? directory, 'postgres');
  const part = await startPart(
    { name: 'postgres', kind: 'postgres', logFile },
    async (onSpawn) => {
      const server = await startPostgres({
        dataDir,
        port,
        password,
        logFile,
        onSpawn,
        ...(options.postgresSettings && { settings: options.postgresSettings }),
      });
      void watchRecovery({ ...server, logFile }, log);
      return server;
    },
    log,
  );
  return stack.use(part);
}

async function startNatsPart(
  { directory, options, natsBinary, stack, log }: SystemContext,
  member: { name: string; port: number; monitorPort: number; clusterPort: number },
  routePorts: readonly number[],
): Promise<Part> {
  const { name, port, monitorPort, clusterPort } = member;
  const logFile = join(directory, 'logs', `${name}.log`);
  const storeDir = join((await options.storeOf?.(name, stack)) ?? directory, name);
  const cluster = {
    name,
    port: clusterPort,
    routes: routePorts.map((routePort) => `127.0.0.1:${routePort}`),
  };
  const start = async (onSpawn: (pid: number) => void) => {
    const server = await startNatsServer({
      binary: natsBinary,
      storeDir,
      port,
      monitorPort,
      password,
      maxFileBytes: natsFileBytesMax,
      logFile,
      onSpawn,
      ...(options.natsSyncInterval !== undefined && { syncInterval: options.natsSyncInterval }),
      ...(cluster.routes.length > 0 && { cluster }),
    });
    void watchWrites({ ...server, storeDir }, log);
    return server;
  };
  return stack.use(await startPart({ name, kind: 'nats', logFile }, start, log));
}
