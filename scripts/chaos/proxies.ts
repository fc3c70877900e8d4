import { TcpProxy } from './proxy.ts';

/** The proxies of a system: between its services and its servers, and between the servers of a cluster. */
export interface Proxies {
  readonly postgres: TcpProxy;
  /** Before each nats-server's port for clients, in the order of their names. */
  readonly nats: readonly TcpProxy[];
  /** Those that a nats-server (`nats-1`) and the others of its cluster reach each other by. */
  routesOf(name: string): readonly TcpProxy[];
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

/** Opens a proxy before every server, and one for each way between two members. */
export async function openProxies(
  postgresPort: number,
  members: readonly ProxiedMember[],
  stack: AsyncDisposableStack,
): Promise<Proxies & { routes: readonly Route[] }> {
  const open = async (port: number) => stack.use(await TcpProxy.open(port));
  const routes: Route[] = [];
  for (const { name: from } of members) {
    for (const { name: to, clusterPort } of members) {
      if (from !== to) routes.push({ from, to, proxy: await open(clusterPort) });
    }
  }
  return {
    postgres: await open(postgresPort),
    nats: await Promise.all(members.map(({ port }) => open(port))),
    routes,
    routesOf: (name) =>
      routes.filter(({ from, to }) => from === name || to === name).map(({ proxy }) => proxy),
  };
}
