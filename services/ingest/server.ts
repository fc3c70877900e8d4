import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { IngestError } from '../../event/errors.ts';
import type { Config } from '../../platform/config.ts';
import { findHttpFault } from '../../platform/http/http-fault.ts';
import { http1Options, openHttp1 } from '../../platform/http/http1.ts';
import { createHttp2 } from '../../platform/http/http2.ts';
import { bodyTimeoutMs, keepAliveTimeoutMs } from '../../platform/http/limits.ts';
import type { Listener } from '../../platform/http/listener.ts';
import { type ServeOptions, serveHttp } from '../../platform/http/serve.ts';
import type { Logger } from '../../platform/log.ts';
import type { Unauthenticated } from './admit/unauthenticated.ts';
import { endWithError, sendJson } from './respond/respond.ts';
import type { RespondError } from './respond/respond-error.ts';

export interface ServerOptions {
  onRequest: RequestListener;
  respondError: RespondError;
  unauthenticated: Unauthenticated;
  listening: Pick<ServeOptions, 'connectionsMax' | 'isShared'>;
  config: Config;
  log: Logger;
  /** See ServiceContext. */
  stopping: AbortSignal;
}

/** Serves requests over HTTP/1.1 and HTTP/2: see serveHttp. */
export async function serveIngest(options: ServerOptions): Promise<Listener> {
  const { onRequest, respondError, unauthenticated, listening, config, log, stopping } = options;
  const http2 = createHttp2(
    {
      onRequest,
      rejectHeaders(request, response, details) {
        void respondError(request, response, new IngestError('invalid_request_body', details));
      },
      rejectConnect(response, details) {
        const error = new IngestError('method_not_allowed', details);
        sendJson(response, error.status, error.toBody(), { Allow: 'GET, POST' });
      },
    },
    stopping,
  );
  http2.server.on('session', (session) => unauthenticated.addSession(session));
  const servers = { http1: createHttp1(onRequest, respondError, stopping), http2 };
  return serveHttp(servers, { prefix: 'INGEST', ...listening, config, log });
}

function createHttp1(
  onRequest: RequestListener,
  respondError: RespondError,
  stopping: AbortSignal,
): { server: Server } & AsyncDisposable {
  const server = createServer({ ...http1Options, ...strictHttpOptions });
  enforceStrictHttp(server, { onRequest, respondError });
  server.setTimeout(keepAliveTimeoutMs + bodyTimeoutMs);
  return openHttp1(server, stopping);
}

/** The last request of a connection, and its response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Ignore later requests on this connection: possible request smuggling. */
  readonly isRejected: boolean;
}

/** Options of the HTTP/1.1 server. Node's own response to a missing Host has no body. */
const strictHttpOptions = { requireHostHeader: false };

/**
 * Makes an HTTP/1.1 server reject requests that violate RFC 9112 but pass Node's parser, and send errors in
 * the shape of docs/api.md §7 where Node sends no body or no response at all. An unknown Expect is ignored,
 * as RFC 9110 §10.1.1 allows.
 * @param handlers `onRequest` is called for valid requests only.
 */
function enforceStrictHttp(
  server: Server,
  handlers: { onRequest: RequestListener; respondError: RespondError },
): void {
  const exchanges = new WeakMap<Socket, Exchange>();
  // Half-open connections must be allowed, by Node's untyped option and on the socket: otherwise a client
  // that closes its side after its request gets no response, although its batch is accepted.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket) => {
    socket.allowHalfOpen = true;
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (exchanges.get(socket)?.isRejected) return;
    const fault = findHttpFault(request);
    exchanges.set(socket, { request, response, isRejected: fault !== undefined });
    if (fault === undefined) return handlers.onRequest(request, response);
    // Close after the response: a proxy in front of us may have parsed the same bytes as a different request.
    response.setHeader('Connection', 'close');
    const details = `The request is not valid HTTP: ${fault}.`;
    void handlers.respondError(request, response, new IngestError('invalid_request_body', details));
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_, socket: Socket) => {
    const error = new IngestError('method_not_allowed', 'CONNECT is not supported: this is not a proxy.');
    endAfterResponses(socket, exchanges.get(socket), { error, headers: { Allow: 'GET, POST' } });
  });
  server.on('clientError', createParserErrorHandler(exchanges));
}

/** Sends an error for a request that the parser rejected. A slow or idle socket is closed without one. */
function createParserErrorHandler(exchanges: WeakMap<Socket, Exchange>) {
  const failed = new WeakSet<Socket>();
  return (error: NodeJS.ErrnoException, socket: Socket) => {
    const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    // The parser also fails on the bytes after the first fault: ignore those errors.
    if (failed.has(socket)) return;
    if (isLate || error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    failed.add(socket);
    const rejection = new IngestError('invalid_request_body', 'The request is not valid HTTP.');
    endAfterResponses(socket, exchanges.get(socket), { error: rejection });
  };
}

/**
 * Sends the last response of a connection, after the responses to all earlier requests: clients match
 * responses to requests by order, and would take this error for the response to an accepted batch.
 */
function endAfterResponses(
  socket: Socket,
  last: Exchange | undefined,
  { error, headers = {} }: { error: IngestError; headers?: Record<string, string> },
): void {
  if (last?.response.headersSent && !last.request.complete) {
    socket.destroy();
  } else if (last?.request.complete && !last.response.closed) {
    last.response.once('close', () => {
      if (socket.writable) endWithError(socket, error, headers);
    });
  } else if (last !== undefined && !last.response.closed && last.response.socket === null) {
    // A body is malformed while earlier responses are pending: destroy the request so that its reading ends.
    last.response.once('close', () => last.request.destroy());
    sendJson(last.response, error.status, error.toBody(), { ...headers, Connection: 'close' });
  } else {
    endWithError(socket, error, headers);
  }
}
