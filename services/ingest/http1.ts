import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { bodyTimeoutMs, headersTimeoutMs, keepAliveTimeoutMs } from '../../lib/limits.ts';
import { answerStrictly, strictHttpOptions } from './strict-http.ts';

/** How often node looks for connections past their time, and the drain for connections that have become idle. */
const checkMs = 1_000;
const idleCheckMs = 50;

/** HTTP/1.1 on the connections that it is given. Disposing it closes each as soon as its requests are answered. */
export function createHttp1(onRequest: RequestListener): { server: Server } & AsyncDisposable {
  const server = createServer({
    ...strictHttpOptions,
    headersTimeout: headersTimeoutMs,
    requestTimeout: bodyTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: checkMs,
  });
  let closing = false;
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    // Node leaves a kept-alive connection open after `close`; its client must be told to go.
    if (closing) response.setHeader('Connection', 'close');
    onRequest(request, response);
  };
  server.on('request', handle);
  answerStrictly(server, handle);
  server.setTimeout(keepAliveTimeoutMs + bodyTimeoutMs);
  // Node starts its look-out for slow requests when it listens; this server never does.
  server.emit('listening');
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    socket.once('close', () => {
      connections -= 1;
    });
  });
  return {
    server,
    async [Symbol.asyncDispose]() {
      closing = true;
      while (connections > 0) {
        server.closeIdleConnections();
        await new Promise((resolve) => setTimeout(resolve, idleCheckMs));
      }
      server.close();
    },
  };
}
