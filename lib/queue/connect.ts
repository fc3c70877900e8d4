import { connect, type NatsConnection, type Server } from '@nats-io/transport-node';
import { ConfigError } from '../config.ts';
import { messageBytesMin, messageOverheadBytes, queueConnectTimeoutMs, queuePingMs } from '../limits.ts';

/** JetStream with what we rely on: per-message fsync that can be read back, and deny_purge with work queues. */
const versionMin = [2, 11] as const;

/**
 * Connects to nats-server, or to a cluster of them (comma-separated URLs), and reconnects for ever after. A user and a
 * password stand in the first URL. The returned connection drains with `await using`.
 *
 * @throws ConfigError when the server is too old, or takes no message as large as a legal request needs.
 */
export async function connectQueue(url: string, name: string): Promise<NatsConnection & AsyncDisposable> {
  const servers = url.split(',').map((server) => new URL(server));
  const addresses = servers.map((server) => server.host);
  const connection = await connect({
    servers: addresses,
    // The client does not read them from a URL.
    ...credentialsOf(servers[0]),
    ...(servers[0]?.protocol === 'tls:' && { tls: {} }),
    name,
    // A stack trace of each request, for errors that hardly ever come, is 4 % of ingest's time.
    noAsyncTraces: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 100,
    // A nats-server that stopped answering is noticed within seconds, not the default four minutes, and one that takes
    // connections without a word does not hold up the way to the next for the default twenty seconds.
    pingInterval: queuePingMs,
    maxPingOut: 2,
    timeout: queueConnectTimeoutMs,
    reconnectToServer: leastRecentlyTried,
  }).catch((error: unknown) => {
    throw new ConfigError(
      `No nats-server answers at ${withoutPassword(url)}: ${String(error)}. Check NATS_URL.`,
    );
  });
  // The client forgets servers that were away at the first try.
  connection.setServers(addresses);
  refuseUnfit(connection);
  return Object.assign(connection, { [Symbol.asyncDispose]: () => connection.drain() });
}

/** The largest payload that the server takes from us in one message, in bytes. */
export function payloadBytesMax(connection: NatsConnection): number {
  return (connection.info?.max_payload ?? 0) - messageOverheadBytes;
}

/** Not the server that was just lost, as the client itself would. */
function leastRecentlyTried(servers: readonly Server[]): Server | null {
  return servers.toSorted((a, b) => a.lastConnect - b.lastConnect)[0] ?? null;
}

function refuseUnfit(connection: NatsConnection): void {
  const version = connection.info?.version ?? '0.0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < versionMin[0] || (major === versionMin[0] && minor < versionMin[1])) {
    throw new ConfigError(`nats-server ${version} is too old: Weir needs ${versionMin.join('.')} or newer.`);
  }
  if (payloadBytesMax(connection) < messageBytesMin) {
    throw new ConfigError(
      `nats-server takes messages of ${connection.info?.max_payload} bytes at most, and one legal request can need ` +
        `${messageBytesMin + messageOverheadBytes}. Set max_payload: 8MB in its configuration.`,
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
