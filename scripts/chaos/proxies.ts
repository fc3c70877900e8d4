import { TcpProxy } from './proxy.ts';

/** The kinds of services that have proxies of their own. */
export type ProxiedKind = 'ingest' | 'writer';

/** The proxies between one kind of service and its servers. */
export interface ServiceProxies {
  readonly postgres: TcpProxy;
  /** Before each nats-server's port for clients, in the order of their names. */
  readonly nats: readonly TcpProxy[];
}

/** The proxies of a system: between its services and its servers, and between the servers of a cluster. */
export interface Proxies extends Readonly<Record<ProxiedKind, ServiceProxies>> {
  /** Those that a nats-server (`nats-1`) and the others of its cluster reach each other by. */
  routesOf(name: string): readonly TcpProxy[];
  /** Those that clients reach a nats-server by. */
  clientsOf(name: string): readonly TcpProxy[];
  /** Passes everything again. */
  heal(): Promise<void>;
}

/** A nats-server behind proxies. */
export interface ProxiedMember {
  name: string;
  port: number;
  clusterPort: number;
}

/** One way between two members of a cluster. */
export interface Route {
  from: string;
  to: string;
  proxy: TcpProxy;
}

/** Opens a proxy before every server for each kind of service, and one for each way between two members. */
export async function openProxies(
  postgresPort: number,
  members: readonly ProxiedMember[],
  stack: AsyncDisposableStack,
): Promise<Proxies & { routes: readonly Route[] }> {
  const all: TcpProxy[] = [];
  const open = async (port: number) => {
    const proxy = stack.use(await TcpProxy.open(port));
    all.push(proxy);
    return proxy;
  };
  const openFor = async () => ({
    postgres: await open(postgresPort),
    nats: await Promise.all(members.map(({ port }) => open(port))),
  });
  const routes: Route[] = [];
  for (const { name: from } of members) {
    for (const { name: to, clusterPort } of members) {
      if (from !== to) routes.push({ from, to, proxy: await open(clusterPort) });
    }
  }
  const [ingest, writer] = [await openFor(), await openFor()];
  return {
    ingest,
    writer,
    routes,
    routesOf: (name) =>
      routes.filter(({ from, to }) => from === name || to === name).map(({ proxy }) => proxy),
    clientsOf(name) {
      const index = members.findIndex((member) => member.name === name);
      return [ingest, writer].flatMap(({ nats }) => nats[index] ?? []);
    },
    heal: async () => void (await Promise.all(all.map((proxy) => proxy.heal()))),
  };
}
