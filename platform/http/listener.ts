import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setImmediate as afterPoll, setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import { acceptedGraceMs, requestDrainTimeoutMs } from './limits.ts';

export interface ListenerOptions {
  /** Names the variables `<prefix>_HOST` and `<prefix>_PORT`. */
  prefix: 'INGEST' | 'DASHBOARD';
  config: Pick<Config, 'INGEST_HOST' | 'INGEST_PORT' | 'DASHBOARD_HOST' | 'DASHBOARD_PORT'>;
  scheme: 'http' | 'https';
  /** Further connections are closed at once. */
  connectionsMax: number;
  /**
   * Whether other processes share the port (SO_REUSEPORT): then the shutdown serves `acceptedGraceMs` more.
   */
  isShared?: boolean;
  /** Resolves when every request that has begun is answered. */
  drain: () => Promise<unknown>;
  log: Logger;
}

/** Logged with the number of connections that are then closed. */
export const drainTimeoutMessage = 'requests have not ended in time: their connections are closed';

export interface Listener extends AsyncDisposable {
  readonly url: string;
}

/**
 * Disposing stops listening, waits for begun requests, at most `requestDrainTimeoutMs`, and closes all
 * connections. @throws ConfigError when it cannot listen on the configured address.
 */
export async function openListener(server: Server, options: ListenerOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.maxConnections = options.connectionsMax;
  await listen(server, options);
  // A connection that cannot be accepted must not end the service.
  server.on('error', (error) => options.log.warn({ err: error }, 'a connection could not be accepted'));
  return {
    url: urlOf(server, options),
    async [Symbol.asyncDispose]() {
      if (options.isShared) {
        // Node accepts every waiting connection before: the system resets those when the port is closed.
        await afterPoll();
        server.close();
        await sleep(acceptedGraceMs);
      } else server.close();
      const drained = options.drain().then(() => true);
      if (!(await Promise.race([drained, sleep(requestDrainTimeoutMs, false, { ref: false })]))) {
        options.log.warn({ connections: sockets.size }, drainTimeoutMessage);
      }
      // The remaining sockets have unfinished requests or handshakes, or have sent nothing.
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listen(server: Server, options: ListenerOptions): Promise<void> {
  const { host, port } = addressOf(options);
  const { prefix, isShared = false } = options;
  server.listen({ port, host, reusePort: isShared });
  try {
    await once(server, 'listening');
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isInUse = 'code' in error && error.code === 'EADDRINUSE';
    throw new ConfigError(
      isInUse
        ? `Cannot listen on ${host}:${port}: the port is in use. Set ${prefix}_PORT to another; 0 takes a free one.`
        : `Cannot listen on ${host}:${port}: ${error.message}. Set ${prefix}_HOST and ${prefix}_PORT.`,
      { cause: error },
    );
  }
}

function urlOf(server: Server, options: ListenerOptions): string {
  const { host } = addressOf(options);
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  return `${options.scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function addressOf({ config, prefix }: ListenerOptions): { host: string; port: number } {
  return { host: config[`${prefix}_HOST`], port: config[`${prefix}_PORT`] };
}
