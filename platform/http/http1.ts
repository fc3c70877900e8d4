import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  bodyTimeoutMs,
  headersTimeoutMs,
  idleCheckMs,
  keepAliveTimeoutMs,
  timeoutCheckMs,
} from './limits.ts';

/** Options of every HTTP/1.1 server of Weir. */
export const http1Options = {
  headersTimeout: headersTimeoutMs,
  requestTimeout: bodyTimeoutMs,
  keepAliveTimeout: keepAliveTimeoutMs,
  connectionsCheckingInterval: timeoutCheckMs,
} satisfies ServerOptions;

/**
 * Prepares an HTTP/1.1 server for its shutdown. From `stopping` on each response asks its client to close the connection: behind a load
 * balancer for connections, the next request then reaches another server.
 *
 * @returns a function that closes each connection as soon as its requests are answered, and resolves after the last.
 */
export function createHttp1Drain(server: Server, stopping: AbortSignal): () => Promise<void> {
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
  return async () => {
    isDraining = true;
    while (connections > 0) {
      server.closeIdleConnections();
      await sleep(idleCheckMs);
    }
  };
}
