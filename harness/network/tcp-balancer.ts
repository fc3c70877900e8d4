import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { until } from '../wait.ts';

/** A TCP load balancer on loopback. */
export interface TcpBalancer extends AsyncDisposable {
  readonly port: number;
  /** Waits until a target gets new connections. @throws Error after a time-out. */
  untilReady(port: number): Promise<void>;
}

const pollMs = 50;

/**
 * Opens a load balancer: a new connection goes to the next target whose `/readyz` answers 200, and to another
 * one when that refuses it. Like the load balancers of networks and of Kubernetes' services it works on
 * connections, not requests: a connection keeps its target.
 */
export async function openTcpBalancer(targets: readonly number[]): Promise<TcpBalancer> {
  const ready = new Set(targets);
  const sockets = new Set<Socket>();
  const polling = setInterval(() => {
    for (const port of targets) void isReady(port).then((is) => (is ? ready.add(port) : ready.delete(port)));
  }, pollMs);
  let turn = 0;
  const candidates = () => {
    const ports = targets.filter((port) => ready.has(port));
    const start = turn++ % Math.max(1, ports.length);
    return [...ports.slice(start), ...ports.slice(0, start)];
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    track(sockets, client);
    void forward(client, candidates(), sockets);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A TCP server that listens has an address with a port.
    port: (server.address() as AddressInfo).port,
    untilReady: (port) => until(() => ready.has(port), 60_000, `port ${port} is not ready`),
    async [Symbol.asyncDispose]() {
      clearInterval(polling);
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

async function forward(client: Socket, ports: readonly number[], sockets: Set<Socket>): Promise<void> {
  for (const port of ports) {
    const target = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    track(sockets, target);
    const isOpen = await once(target, 'connect').then(
      () => true,
      () => false,
    );
    if (!isOpen) continue;
    client.pipe(target);
    target.pipe(client);
    client.once('close', () => target.destroy());
    target.once('close', () => client.destroySoon());
    return;
  }
  client.resetAndDestroy();
}

function track(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => sockets.delete(socket));
}
