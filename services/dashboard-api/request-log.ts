import type { ServerResponse } from 'node:http';
import type { TRPCError } from '@trpc/server';
import type { Logger } from '../../lib/log.ts';

/** Longest path in the log, in characters. Clients choose the path. */
const pathCharsMax = 200;

/** Who sent a request: what its log lines say of it. */
export interface Sender {
  /** The network address of the client. */
  readonly address: string;
  /** The user, when the session was found. */
  userId: string | undefined;
}

const senders = new WeakMap<ServerResponse, Sender>();

/** Makes the log line of a request name who sent it. */
export function noteSender(response: ServerResponse, sender: Sender): void {
  senders.set(response, sender);
}

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
        ...senders.get(response),
      },
      'request',
    );
  });
}

/** Codes of calls that are refused to whoever asks. */
const refusals = new Set<TRPCError['code']>(['UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_REQUESTS']);

/** Logs why a call failed on our side, which clients are not told, and which call was refused to whom. */
export function logFailure(
  log: Logger,
  path: string | undefined,
  { error, sender }: { error: TRPCError; sender: Sender | undefined },
): void {
  if (error.code === 'INTERNAL_SERVER_ERROR') log.error({ err: error, path }, 'call failed');
  else if (error.code === 'SERVICE_UNAVAILABLE' || error.code === 'GATEWAY_TIMEOUT') {
    log.warn({ err: error, path }, 'call failed');
  } else if (refusals.has(error.code)) log.info({ path, code: error.code, ...sender }, 'refused');
}

/** Who sent the request of a response, if its session was looked at. */
export function senderOf(response: ServerResponse): Sender | undefined {
  return senders.get(response);
}
