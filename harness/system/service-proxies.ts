import { TcpProxy } from '../network/tcp-proxy.ts';

/** The kinds of services that have proxies of their own. */
export type ProxiedKind = 'ingest' | 'writer';

/** The proxies in front of the servers, for services of one kind. */
export interface KindProxies {
  readonly postgres: TcpProxy;
  /** In front of each nats-server's client port, in the order of their names. */
  readonly nats: readonly TcpProxy[];
}

/**
 * The proxies of a system: between its services and its servers, and between the members of its NATS cluster.
 */
export interface ServiceProxies extends Readonly<Record<ProxiedKind, KindProxies>> {
  /** The proxies of the routes between a nats-server (`nats-1`) and the other members, in both directions. */
  routesOf(name: string): readonly TcpProxy[];
  /** The port at which one member connects to another. */
  routePort(from: string, to: string): number | undefined;
  /** The proxies through which clients connect to a nats-server. */
  clientsOf(name: string): readonly TcpProxy[];
  /** Heals all proxies. */
  heal(): Promise<void>;
}

/** A nats-server behind proxies. */
export interface ProxiedMember {
  name: string;
  port: number;
  clusterPort: number;
}

/**
 * Opens a proxy in front of every server for each kind of service, and one for each direction between two
 * members.
 */
export async function openProxies(
  postgresPort: number,
  members: readonly ProxiedMember[],
  stack: AsyncDisposableStack,
): Promise<ServiceProxies> {
  const all: TcpProxy[] = [];
  const open = async (port: number) => {
    const proxy = stack.use(await TcpProxy.open(port));
    all.push(proxy);
    return proxy;
  };
  const openForKind = async (): Promise<KindProxies> => ({
    postgres: await open(postgresPort),
    nats: await Promise.all(members.map(({ port }) => open(port))),
  });
  const routes: { from: string; to: string; proxy: TcpProxy }[] = [];
  for (const { name: from } of members) {
    for (const { name: to, clusterPort } of members) {
      if (from !== to) routes.push({ from, to, proxy: await open(clusterPort) });
    }
  }
  const [ingest, writer] = [await openForKind(), await openForKind()];
  return {
    ingest,
    writer,
    routesOf: (name) =>
      routes.filter(({ from, to }) => from === name || to === name).map(({ proxy }) => proxy),
    routePort: (from, to) => routes.find((route) => route.from === from && route.to === to)?.proxy.port,
    clientsOf(name) {
      const index = members.findIndex((member) => member.name === name);
      return [ingest, writer].flatMap(({ nats }) => nats[index] ?? []);
    },
    heal: async () => void (await Promise.all(all.map((proxy) => proxy.heal()))),
  };
}

/** @throws Error when the system was started without proxies. */
export function requireProxies({ proxies }: { proxies: ServiceProxies | undefined }): ServiceProxies {
  if (proxies === undefined) throw new Error('the system has no proxies');
  return proxies;
}
