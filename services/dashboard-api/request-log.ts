import type { ServerResponse } from 'node:http';
import type { TRPCError } from '@trpc/server';
import type { Logger } from '../../lib/log.ts';

/** Longest path in the log, in characters. Clients choose the path. */
const pathCharsMax = 200;

/** Logs one line a request, after the response. Without the query, which contains the names and ids of filters. */
export function logRequest(
  log: Logger,
  request: { method: string | undefined; path: string },
  response: ServerResponse,
): void {
  const startedAt = performance.now();
  response.once('close', () => {
    log.info(
      {
        method: request.method,
        path: request.path.slice(0, pathCharsMax),
        status: response.statusCode,
        /** False when the client disconnected before the response was complete. */
        answered: response.writableFinished,
        durationMs: Math.round(performance.now() - startedAt),
      },
      'request',
    );
  });
}

/** Logs why a call failed on our side, which clients are not told. */
export function logFailure(log: Logger, path: string | undefined, error: TRPCError): void {
  if (error.code === 'INTERNAL_SERVER_ERROR') log.error({ err: error, path }, 'call failed');
  else if (error.code === 'SERVICE_UNAVAILABLE' || error.code === 'GATEWAY_TIMEOUT') {
    log.warn({ err: error, path }, 'call failed');
  }
}
