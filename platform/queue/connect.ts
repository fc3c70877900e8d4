import { connect, type NatsConnection, type Server } from '@nats-io/transport-node';
import { ConfigError } from '../config/config-error.ts';
import {
  messageBytesMax,
  messageOverheadBytes,
  payloadBytesMin,
  queueConnectTimeoutMs,
  queuePingMs,
} from './limits.ts';

/** The oldest version whose /jsz reports `sync_interval: always` and whose work queues support deny_purge. */
const versionMin = [2, 11] as const;

/**
 * Connects to a nats-server or a cluster (comma-separated URLs; the first one has the credentials), and
 * reconnects without limit. Disposing drains.
 * @throws ConfigError when no server answers, it is too old, or its max_payload is below what one legal
 * request needs.
 */
export async function connectQueue(url: string, name: string): Promise<NatsConnection & AsyncDisposable> {
  const servers = url.split(',').map((server) => new URL(server));
  const addresses = servers.map((server) => server.host);
  const connection = await connect({
    servers: addresses,
    // The client ignores credentials in a URL.
    ...credentialsOf(servers[0]),
    ...(servers[0]?.protocol === 'tls:' && { tls: {} }),
    name,
    // Capturing a stack trace for each request costs 4% of ingest's CPU time.
    noAsyncTraces: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 100,
    // Defaults: an unresponsive server is noticed after four minutes, and one that accepts but sends nothing
    // delays the next attempt by twenty seconds.
    pingInterval: queuePingMs,
    maxPingOut: 2,
    timeout: queueConnectTimeoutMs,
    reconnectToServer: leastRecentlyTried,
  }).catch((error: unknown) => {
    throw new ConfigError(
      `No nats-server answers at ${withoutPassword(url)}: ${String(error)}. Check NATS_URL.`,
    );
  });
  // The client drops servers that were unreachable during the first connect.
  connection.setServers(addresses);
  try {
    checkServer(connection);
  } catch (error) {
    // An open connection keeps a command from ending.
    await connection.close();
    throw error;
  }
  // Drain rejects while no server is connected: there is nothing to flush then.
  const dispose = () => connection.drain().catch(() => connection.close());
  return Object.assign(connection, { [Symbol.asyncDispose]: dispose });
}

/** What the server and the writers accept, less `messageOverheadBytes`. */
export function payloadBytesMax(connection: NatsConnection): number {
  return Math.min(connection.info?.max_payload ?? 0, messageBytesMax) - messageOverheadBytes;
}

/** The client by itself would retry the server that it has just lost. */
function leastRecentlyTried(servers: readonly Server[]): Server | null {
  return servers.toSorted((a, b) => a.lastConnect - b.lastConnect)[0] ?? null;
}

function checkServer(connection: NatsConnection): void {
  const version = connection.info?.version ?? '0.0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < versionMin[0] || (major === versionMin[0] && minor < versionMin[1])) {
    throw new ConfigError(`nats-server ${version} is too old: Weir needs ${versionMin.join('.')} or newer.`);
  }
  if (payloadBytesMax(connection) < payloadBytesMin) {
    throw new ConfigError(
      `nats-server accepts messages of at most ${connection.info?.max_payload} bytes, but one legal request can need ` +
        `${payloadBytesMin + messageOverheadBytes}. Set max_payload: 8MB in its configuration.`,
    );
  }
}

function credentialsOf(server: URL | undefined): { user?: string; pass?: string; token?: string } {
  if (!server?.username) return {};
  const user = decodeURIComponent(server.username);
  return server.password ? { user, pass: decodeURIComponent(server.password) } : { token: user };
}

function withoutPassword(url: string): string {
  return url.replaceAll(/\/\/[^@/]*@/g, '//');
}
