import type { IncomingMessage, ServerResponse } from 'node:http';
import { callTRPCProcedure, getTRPCErrorFromUnknown, getTRPCErrorShape, TRPCError } from '@trpc/server';
import type { Logger } from '../../lib/log.ts';
import { sendEventStream } from './live/event-stream.ts';
import { logFailure } from './request-log.ts';
import { appRouter } from './router.ts';
import { openContext, type Services } from './trpc/context.ts';
import { readRequest } from './trpc/request.ts';

const path = 'live.tail';

/** Whether a request opens a live stream, as tRPC's httpSubscriptionLink does. */
export function opensLiveTail({ method, url = '' }: IncomingMessage): boolean {
  return method === 'GET' && /^\/trpc\/live\.tail(\?(?!(.*&)?batch=)|$)/.test(url);
}

/** Answers with the live stream of the request: see sendEventStream. */
export async function sendLiveTail(
  { services, log }: { services: Services; log: Logger },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const ctx = openContext(services, readRequest(request, response, services.findAddress));
  await sendEventStream(response, {
    open: (signal) =>
      callTRPCProcedure({
        router: appRouter,
        path,
        type: 'subscription',
        ctx,
        signal,
        batchIndex: 0,
        getRawInput: async () => readInput(request),
      }),
    describeError(thrown) {
      const error = getTRPCErrorFromUnknown(thrown);
      logFailure(log, path, { error, sender: ctx.request.sender });
      const config = appRouter._def._config;
      return getTRPCErrorShape({ config, error, type: 'subscription', path, input: undefined, ctx });
    },
  });
}

/** The input, with the id of the last message: a browser sends it as a header when it connects again, and it is the newer one. */
function readInput({ url = '', headers }: IncomingMessage): unknown {
  const parameters = new URLSearchParams(url.split('?').slice(1).join('?'));
  const lastEventId = headers['last-event-id']?.toString() || parameters.get('lastEventId');
  const input = parseJson(parameters.get('input') || '{}');
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return lastEventId && isObject ? { ...input, lastEventId } : input;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', message: 'The input is not JSON.', cause });
  }
}
