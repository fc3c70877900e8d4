import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Config } from '../../platform/config.ts';
import { createHttp1Drain, http1Options } from '../../platform/http/http1.ts';
import { createHttp2 } from '../../platform/http/http2.ts';
import type { Listener } from '../../platform/http/listener.ts';
import { type HttpServers, serveHttp } from '../../platform/http/serve.ts';
import type { Logger } from '../../platform/log.ts';
import { dashboardSocketsMax } from './limits.ts';

export interface ServerOptions {
  onRequest: RequestListener;
  config: Config;
  log: Logger;
  /** See ServiceContext. */
  stopping: AbortSignal;
}

/**
 * Serves the dashboard over HTTP/1.1 and HTTP/2: see serveHttp. Browsers use HTTP/2 only with TLS; over HTTP/1.1 they open at most
 * six connections, and each live stream occupies one.
 */
export async function serveDashboard({ onRequest, config, log, stopping }: ServerOptions): Promise<Listener> {
  const http2 = createHttp2(
    {
      onRequest,
      rejectHeaders: (_, response, details) => sendText(response, 431, details),
      rejectConnect(response, details) {
        response.setHeader('Allow', 'GET, POST');
        sendText(response, 405, details);
      },
    },
    stopping,
  );
  const servers = { http1: createHttp1(onRequest, stopping), http2 };
  return serveHttp(servers, { prefix: 'DASHBOARD', connectionsMax: dashboardSocketsMax, config, log });
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' }).end(`${text}\n`);
}

function createHttp1(onRequest: RequestListener, stopping: AbortSignal): HttpServers['http1'] {
  const server = createServer(http1Options, onRequest);
  const drain = createHttp1Drain(server, stopping);
  // This event starts Node's check for slow requests.
  server.emit('listening');
  return {
    server,
    async [Symbol.asyncDispose]() {
      await drain();
      server.close();
    },
  };
}
