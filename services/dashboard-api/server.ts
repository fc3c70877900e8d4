import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createHTTPHandler } from '@trpc/server/adapters/standalone';
import { ConfigError } from '../../lib/config.ts';
import type { Sql } from '../../lib/db/connect.ts';
import {
  bodyTimeoutMs,
  dashboardBodyBytesMax,
  dashboardCallsMax,
  headersTimeoutMs,
  keepAliveTimeoutMs,
} from '../../lib/limits.ts';
import type { Logger } from '../../lib/log.ts';
import { openContext, type Services } from './context.ts';
import { answerLive, answerReady } from './health.ts';
import { readRequest } from './request.ts';
import { logFailure, logRequest } from './request-log.ts';
import { appRouter } from './router.ts';

export interface ServerOptions {
  services: Services;
  /** What /readyz asks. */
  sql: Sql;
  log: Logger;
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** The texts of certificate and key; without them the server speaks clear text, for loopback or a proxy. */
  tls?: { cert: string; key: string } | undefined;
}

const trpcPath = '/trpc/';

/**
 * Serves the dashboard API: tRPC under /trpc/, and /healthz and /readyz. Disposing it lets the calls that run finish.
 *
 * @throws ConfigError when the port is taken.
 */
export async function openServer(options: ServerOptions): Promise<{ url: string } & AsyncDisposable> {
  const { log, host, port, tls } = options;
  const listener = createListener(options);
  const limits = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: bodyTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
  };
  const server = tls ? createTlsServer({ ...limits, ...tls }, listener) : createServer(limits, listener);
  await listen(server, { host, port });
  // A connection that could not be accepted is one client's failure, not the service's.
  server.on('error', (error) => log.error({ err: error }, 'server'));
  return {
    url: urlOf(server, { host, scheme: tls ? 'https' : 'http' }),
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

function createListener({ services, sql, log }: ServerOptions) {
  const answerTrpc = createHTTPHandler({
    router: appRouter,
    basePath: trpcPath,
    maxBodySize: dashboardBodyBytesMax,
    maxBatchSize: dashboardCallsMax,
    createContext: ({ req, res }) => openContext(services, readRequest(req, res)),
    onError: ({ error, path }) => logFailure(log, path, error),
  });
  return (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (path.startsWith(trpcPath)) {
      logRequest(log, { method: request.method, path }, response);
      // Answers hold what users sent to their tools and models: no cache may keep them, no browser guess their type.
      response.setHeader('Cache-Control', 'no-store');
      response.setHeader('X-Content-Type-Options', 'nosniff');
      answerTrpc(request, response);
    } else if (path === '/healthz') answerLive(response);
    else if (path === '/readyz') void answerReady(sql, response);
    else response.writeHead(404).end();
  };
}

async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    throw new ConfigError(
      `Port ${port} on ${host} is in use. Set DASHBOARD_PORT to another; 0 takes a free one.`,
    );
  }
}

function urlOf(server: Server, { host, scheme }: { host: string; scheme: string }): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  await closed;
}
