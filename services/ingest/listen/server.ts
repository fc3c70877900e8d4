import { createServer, type RequestListener, type Server } from 'node:http';
import { IngestError } from '../../../event/errors.ts';
import type { Config } from '../../../platform/config.ts';
import { http1Options, openHttp1 } from '../../../platform/http/http1.ts';
import { createHttp2 } from '../../../platform/http/http2.ts';
import { bodyTimeoutMs, keepAliveTimeoutMs } from '../../../platform/http/limits.ts';
import type { Listener } from '../../../platform/http/listener.ts';
import { type ServeOptions, serveHttp } from '../../../platform/http/serve.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Unauthenticated } from '../admit/unauthenticated.ts';
import { sendJson } from '../respond/respond.ts';
import type { RespondError } from '../respond/respond-error.ts';
import { enforceStrictHttp, strictHttpOptions } from './strict-http.ts';

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
export async function serveIngest({
  onRequest,
  respondError,
  unauthenticated,
  listening,
  config,
  log,
  stopping,
}: ServerOptions): Promise<Listener> {
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
