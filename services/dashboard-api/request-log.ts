import type { ServerResponse } from 'node:http';
import type { TRPCError } from '@trpc/server';
import type { Logger } from '../../lib/log.ts';

/** Longest path in the log, in characters: clients choose it. */
const pathCharsMax = 200;

/** One line a request, when it is answered. The query is left out: it holds names and ids that users filter by. */
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
        /** False when the client left before the answer. */
        answered: response.writableFinished,
        durationMs: Math.round(performance.now() - startedAt),
      },
      'request',
    );
  });
}

/** Logs what clients are not told: why a call failed on our side. */
export function logFailure(log: Logger, path: string | undefined, error: TRPCError): void {
  if (error.code === 'INTERNAL_SERVER_ERROR') log.error({ err: error, path }, 'call failed');
  else if (error.code === 'SERVICE_UNAVAILABLE' || error.code === 'GATEWAY_TIMEOUT') {
    log.warn({ err: error, path }, 'call failed');
  }
}
