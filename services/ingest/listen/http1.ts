import { createServer, type RequestListener, type Server } from 'node:http';
import { createHttp1Drain, http1Options } from '../../../platform/http/http1.ts';
import { bodyTimeoutMs, keepAliveTimeoutMs } from '../../../platform/http/limits.ts';
import type { RespondError } from '../respond/respond-error.ts';
import { enforceStrictHttp, strictHttpOptions } from './strict-http.ts';

/**
 * The HTTP/1.1 server. It does not listen itself, it serves the connections that it is given. Disposing it closes each
 * connection as soon as the responses to its requests are sent.
 */
export function createHttp1(
  onRequest: RequestListener,
  respondError: RespondError,
  stopping: AbortSignal,
): { server: Server } & AsyncDisposable {
  const server = createServer({ ...http1Options, ...strictHttpOptions });
  enforceStrictHttp(server, { onRequest, respondError });
  server.setTimeout(keepAliveTimeoutMs + bodyTimeoutMs);
  const drain = createHttp1Drain(server, stopping);
  // Node starts its time-outs of slow requests on this event.
  server.emit('listening');
  return {
    server,
    async [Symbol.asyncDispose]() {
      await drain();
      server.close();
    },
  };
}
