import { join } from 'node:path';
import { startNatsServer } from '../../launcher/provision/nats/nats-server.ts';
import { chooseFreePorts } from '../../launcher/provision/ports.ts';
import { startPostgres } from '../../launcher/provision/postgres/postgres.ts';
import { urlOfRole } from '../../launcher/provision/postgres/roles.ts';
import { watchNats } from '../../launcher/supervise/nats-watchdog.ts';
import { watchPostgres } from '../../launcher/supervise/postgres-watchdog.ts';
import type { ServiceName } from '../../platform/config/services.ts';
import { TcpProxy } from '../network/tcp-proxy.ts';
import { createCitusDatabase } from './citus-database.ts';
import { allStarted, type ManagedProcess, startManagedProcess } from './managed-process.ts';
import { clusterMember } from './nats-member.ts';
import { openProxies, type ServiceProxies } from './service-proxies.ts';
import type { SystemContext } from './system-options.ts';

export const serverPassword = 'chaos';

/** `max_file` of nats-server. Small, because no round queues more; the stream's `max_bytes` is below it. */
const natsFileBytesMax = 2 * 1024 ** 3;

/** The Postgres and the nats-servers of a system. */
export interface Servers {
  readonly processes: readonly ManagedProcess[];
  /** Connects to Postgres without a proxy, as superuser. */
  readonly databaseUrl: string;
  /** Connect to the nats-servers without a proxy, in the order of their names. */
  readonly natsUrls: readonly string[];
  readonly monitorUrls: readonly string[];
  /** In front of each worker of a Citus cluster. */
  readonly workers: readonly TcpProxy[];
  /** Undefined in a system without proxies. */
  readonly proxies: ServiceProxies | undefined;
  /** The configuration of services of a kind: the URLs of the servers, with the role of the kind. */
  serviceEnv(kind: ServiceName): Record<string, string>;
}

interface NatsMember {
  name: string;
  port: number;
  monitorPort: number;
  clusterPort: number;
}

export async function startServers(context: SystemContext): Promise<Servers> {
  const { options, stack } = context;
  const [postgresPort = 0, ...ports] = await chooseFreePorts(1 + 3 * options.natsServers);
  const members = Array.from({ length: options.natsServers }, (_, i): NatsMember => {
    const [port = 0, monitorPort = 0, clusterPort = 0] = ports.slice(3 * i, 3 * i + 3);
    return { name: `nats-${i + 1}`, port, monitorPort, clusterPort };
  });
  const proxies = options.proxied ? await openProxies(postgresPort, members, stack) : undefined;
  const workers: TcpProxy[] = [];
  const postgres = options.citus
    ? { processes: [], url: (await openCluster(context, workers)).url }
    : {
        processes: [await startManagedPostgres(context, postgresPort)],
        url: `postgres://weir:${serverPassword}@127.0.0.1:${postgresPort}/weir`,
      };
  const routePorts = (member: NatsMember) =>
    members
      .filter(({ name }) => name !== member.name)
      .map(({ name, clusterPort }) => proxies?.routePort(member.name, name) ?? clusterPort);
  const nats = await allStarted(
    members.map((member) => startManagedNats(context, member, routePorts(member))),
  );
  const proxiesOf = (kind: ServiceName) => (kind === 'dashboard-api' ? undefined : proxies?.[kind]);
  const databaseUrlOf = (kind: ServiceName) => {
    const url = new URL(postgres.url);
    url.port = String(proxiesOf(kind)?.postgres.port ?? url.port);
    return urlOfRole(url.href, kind);
  };
  const natsUrlAt = (port: number) => `nats://weir:${serverPassword}@127.0.0.1:${port}`;
  const monitorUrls = members.map(({ monitorPort }) => `http://127.0.0.1:${monitorPort}`);
  return {
    processes: [...postgres.processes, ...nats],
    workers,
    proxies,
    databaseUrl: postgres.url,
    natsUrls: members.map(({ port }) => natsUrlAt(port)),
    monitorUrls,
    serviceEnv: (kind) => ({
      DATABASE_URL: databaseUrlOf(kind),
      DATABASE_ALLOW_UNSYNCED: String(options.postgresSettings?.fsync === 'off'),
      NATS_URL: members.map(({ port }, i) => natsUrlAt(proxiesOf(kind)?.nats[i]?.port ?? port)).join(','),
      NATS_MONITOR_URL: monitorUrls.join(','),
      NATS_REPLICAS: String(options.natsServers),
      NATS_ALLOW_UNSYNCED: String(options.natsSyncInterval !== undefined),
      QUEUE_BYTES_MAX: String(options.streamBytesMax ?? natsFileBytesMax / 2),
    }),
  };
}

/**
 * Makes a database on the nodes of the cluster of WEIR_TEST_CITUS_URL, which know its workers by the ports of
 * proxies.
 */
async function openCluster({ env, stack }: SystemContext, workers: TcpProxy[]) {
  return stack.use(
    await createCitusDatabase(env.WEIR_TEST_CITUS_URL ?? '', {
      withRoles: true,
      async through({ port }) {
        const proxy = stack.use(await TcpProxy.open(port));
        workers.push(proxy);
        return { host: '127.0.0.1', port: proxy.port };
      },
    }),
  );
}

async function startManagedPostgres(context: SystemContext, port: number): Promise<ManagedProcess> {
  const { directory, options, stack, log } = context;
  const logFile = join(directory, 'logs', 'postgres.log');
  const dataDir = join((await options.storeOf?.('postgres', stack)) ?? directory, 'postgres');
  const start = async (onSpawn: (pid: number) => void) => {
    const server = await startPostgres({
      dataDir,
      port,
      password: serverPassword,
      logFile,
      onSpawn,
      ...(options.postgresSettings && { settings: options.postgresSettings }),
      ...(options.postgresEnv && { env: options.postgresEnv }),
    });
    void watchPostgres({ ...server, logFile }, log);
    return server;
  };
  return stack.use(await startManagedProcess({ name: 'postgres', kind: 'postgres', logFile }, start, log));
}

async function startManagedNats(
  { directory, options, natsBinary, stack, log }: SystemContext,
  { name, port, monitorPort, clusterPort }: NatsMember,
  routePorts: readonly number[],
): Promise<ManagedProcess> {
  const logFile = join(directory, 'logs', `${name}.log`);
  const storeDir = join((await options.storeOf?.(name, stack)) ?? directory, name);
  const routes = routePorts.map((routePort) => `127.0.0.1:${routePort}`);
  const start = async (onSpawn: (pid: number) => void) => {
    const server = await startNatsServer({
      binary: natsBinary,
      storeDir,
      port,
      monitorPort,
      password: serverPassword,
      maxFileBytes: natsFileBytesMax,
      logFile,
      onSpawn,
      ...(options.natsSyncInterval !== undefined && { syncInterval: options.natsSyncInterval }),
      ...(routes.length > 0 && {
        member: clusterMember({ name, port: clusterPort, routes, password: serverPassword }),
      }),
    });
    void watchNats({ ...server, storeDir }, log);
    return server;
  };
  return stack.use(await startManagedProcess({ name, kind: 'nats', logFile }, start, log));
}
