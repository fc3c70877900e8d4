import type { RequestListener } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../lib/config.ts';
import { ConfigError } from '../../lib/config.ts';
import { connectionsMax, requestDrainTimeoutMs } from '../../lib/limits.ts';
import type { Logger } from '../../lib/log.ts';
import { openCertificate } from './certificate.ts';
import { openFrontDoor } from './front-door.ts';
import { createHttp1 } from './http1.ts';
import { createHttp2 } from './http2.ts';

type ServerConfig = Pick<Config, 'INGEST_HOST' | 'INGEST_PORT' | 'TLS_CERT_FILE' | 'TLS_KEY_FILE'>;

/**
 * Serves requests over HTTP/1.1 and HTTP/2 on one port. Disposing it stops listening, lets every request under way have
 * its answer, unless its client takes too long to finish it, and closes.
 *
 * @returns the address that clients use.
 * @throws ConfigError when it cannot listen there, or the certificate is no good.
 */
export async function serveIngest(
  onRequest: RequestListener,
  config: ServerConfig,
  log: Logger,
): Promise<{ url: string } & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const certificate = await findCertificate(config, log);
  if (certificate !== undefined) resources.use(certificate);
  const sockets = new Set<Socket>();
  // Last of all, those that were never handed to a server: silent ones, and handshakes that are not finished. And those
  // whose requests were not finished in time.
  resources.defer(() => sockets.forEach((socket) => void socket.destroy()));
  const [http1, http2] = [createHttp1(onRequest), createHttp2(onRequest)];
  resources.defer(() => drain([http1, http2]));
  const door = openFrontDoor({ http1: http1.server, http2: http2.server }, certificate);
  door.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  door.maxConnections = connectionsMax;
  await listen(door, config);
  resources.defer(() => void door.close());
  const { address, port, family } = door.address() as AddressInfo;
  const scheme = certificate === undefined ? 'http' : 'https';
  const acquired = resources.move();
  return {
    url: `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    [Symbol.asyncDispose]: () => acquired.disposeAsync(),
  };
}

/** Waits for the requests under way, over both protocols at once: neither may take connections while the other drains. */
async function drain(servers: readonly AsyncDisposable[]): Promise<void> {
  const drained = Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  await Promise.race([drained, sleep(requestDrainTimeoutMs, undefined, { ref: false })]);
}

async function findCertificate(
  { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: ServerConfig,
  log: Logger,
) {
  if (certFile === undefined || keyFile === undefined) return undefined;
  return openCertificate({ certFile, keyFile }, log);
}

function listen(server: Server, { INGEST_HOST: host, INGEST_PORT: port }: ServerConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'the port is in use' : error.message;
      reject(
        new ConfigError(
          `Ingest cannot listen on ${host}:${port}: ${reason}. Set INGEST_HOST and INGEST_PORT.`,
        ),
      );
    });
    server.listen(port, host, resolve);
  });
}
