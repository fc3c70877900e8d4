import type { ServerResponse } from 'node:http';
import type { TRPCError } from '@trpc/server';
import type { Logger } from '../../platform/log.ts';

/** Limit of the path in the log, in characters. Clients choose the path. */
const pathCharsMax = 200;

export interface Sender {
  readonly address: string;
  /** The user, once the session was found. */
  userId: string | undefined;
  /** The read key, once it was found. */
  keyId?: string;
}

const senders = new WeakMap<ServerResponse, Sender>();

export function noteSender(response: ServerResponse, sender: Sender): void {
  senders.set(response, sender);
}

/** Logs one line per request after the response, without the query, which contains filter values and ids. */
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

/** Codes that deny access. */
const refusals = new Set<TRPCError['code']>(['UNAUTHORIZED', 'FORBIDDEN', 'TOO_MANY_REQUESTS']);

/** Internal failures, whose cause clients do not see, and denied calls with their sender. */
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

export function senderOf(response: ServerResponse): Sender | undefined {
  return senders.get(response);
}

/** Who waits for the response: the user or the read key, once it was found, else the address. */
export function holderOf(response: ServerResponse): string | undefined {
  const sender = senders.get(response);
  return sender?.userId ?? sender?.keyId ?? sender?.address;
}
