import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  bodyTimeoutMs,
  headersTimeoutMs,
  idleCheckMs,
  keepAliveTimeoutMs,
  timeoutCheckMs,
} from './limits.ts';

export const http1Options = {
  headersTimeout: headersTimeoutMs,
  requestTimeout: bodyTimeoutMs,
  keepAliveTimeout: keepAliveTimeoutMs,
  connectionsCheckingInterval: timeoutCheckMs,
} satisfies ServerOptions;

/**
 * A server that gets its connections from the listener. From `stopping` on each response asks its client to
 * close the connection, so that a load balancer sends the next request to another server. Disposal closes
 * each connection once its responses are sent.
 */
export function openHttp1(server: Server, stopping: AbortSignal): { server: Server } & AsyncDisposable {
  let isDraining = false;
  let connections = 0;
  // Node leaves keep-alive connections open after `close`; this header makes clients close them.
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (isDraining || stopping.aborted) response.setHeader('Connection', 'close');
  });
  server.on('connection', (socket) => {
    connections += 1;
    socket.once('close', () => {
      connections -= 1;
    });
  });
  // Node starts its time-outs of slow requests on this event.
  server.emit('listening');
  return {
    server,
    async [Symbol.asyncDispose]() {
      isDraining = true;
      while (connections > 0) {
        server.closeIdleConnections();
        await sleep(idleCheckMs);
      }
      server.close();
    },
  };
}
