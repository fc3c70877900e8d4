import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Config } from '../../lib/config.ts';
import { ConfigError } from '../../lib/config.ts';
import { bodyTimeoutMs, headersTimeoutMs, keepAliveTimeoutMs } from '../../lib/limits.ts';
import { refuseUnparsable } from './respond.ts';
import { handleRequest, type RouteDependencies } from './routes.ts';

type ServerConfig = Pick<Config, 'INGEST_HOST' | 'INGEST_PORT' | 'TLS_CERT_FILE' | 'TLS_KEY_FILE'>;

/**
 * Listens for requests. Disposing it stops listening, lets every request under way have its answer, and closes.
 *
 * @returns the address that clients use.
 * @throws ConfigError when it cannot listen there.
 */
export async function serveIngest(
  dependencies: RouteDependencies,
  config: ServerConfig,
): Promise<{ url: string } & AsyncDisposable> {
  const { server, scheme } = await createServer(config);
  let closing = false;
  server.on('request', (request, response) => {
    // Node leaves a kept-alive connection open after `close`; its client must be told to go.
    if (closing) response.setHeader('Connection', 'close');
    void handleRequest(dependencies, request, response);
  });
  server.on('clientError', refuseUnparsable);
  // A silent socket has sent no header yet, so no header time-out runs.
  server.setTimeout(keepAliveTimeoutMs + bodyTimeoutMs);
  await listen(server, config);
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    [Symbol.asyncDispose]: () => {
      closing = true;
      return closeServer(server);
    },
  };
}

/** How often connections that have become idle are closed while the server drains. */
const idleCheckMs = 50;

function closeServer(server: Server): Promise<void> {
  const idleCheck = setInterval(() => server.closeIdleConnections(), idleCheckMs);
  return new Promise((resolve) => {
    server.close(() => {
      clearInterval(idleCheck);
      resolve();
    });
  });
}

async function createServer(config: ServerConfig): Promise<{ server: Server; scheme: string }> {
  const options = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: bodyTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // How often Node looks for sockets past their time.
    connectionsCheckingInterval: 1_000,
    // Nagle would hold back an answer for 40 ms.
    noDelay: true,
  };
  if (config.TLS_CERT_FILE === undefined || config.TLS_KEY_FILE === undefined) {
    return { server: createHttpServer(options), scheme: 'http' };
  }
  const [cert, key] = await Promise.all([readFile(config.TLS_CERT_FILE), readFile(config.TLS_KEY_FILE)]);
  return { server: createHttpsServer({ ...options, cert, key }), scheme: 'https' };
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
