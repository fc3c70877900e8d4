import assert from 'node:assert/strict';
import { createTRPCClient, httpSubscriptionLink, retryLink, type TRPCClientError } from '@trpc/client';
import type { inferRouterInputs } from '@trpc/server';
import { Agent, EventSource } from 'undici';
import { type LiveMessage, liveMessage } from '../../services/dashboard-api/live/live-message.ts';
import type { AppRouter } from '../../services/dashboard-api/router.ts';
import { until } from './wait.ts';

type TailInput = inferRouterInputs<AppRouter>['live']['tail'];

export interface LiveTail extends Disposable {
  /** All messages that it received, with their ids. */
  readonly messages: { id: string; data: LiveMessage }[];
  /** The error that ended it. */
  readonly failure: TRPCClientError<AppRouter> | undefined;
  /** Number of connections so far. */
  readonly connections: number;
  /** Ids of the received events, in order. */
  eventIds(): string[];
  /** Waits until it has a position: events stored from then on are received. */
  ready(): Promise<void>;
}

/** Follows a live tail like a front end: it reconnects automatically, also after a refused connection. */
export function openTail(url: string, cookie: string | undefined, input: TailInput = {}): LiveTail {
  const agent = new Agent({ bodyTimeout: 0 }).compose((dispatch) => (options, handler) => {
    const headers = { ...(options.headers as Record<string, string>), cookie: cookie ?? '' };
    return dispatch({ ...options, headers }, handler);
  });
  const messages: LiveTail['messages'] = [];
  let failure: LiveTail['failure'];
  let connections = 0;
  const trpc = createTRPCClient<AppRouter>({
    links: [
      retryLink({ retry: ({ error }) => isTransient(error), retryDelayMs: () => 50 }),
      httpSubscriptionLink({
        url: `${url}/trpc`,
        EventSource,
        // The DOM types lack a member of undici's.
        eventSourceOptions: { node: { dispatcher: agent, reconnectionTime: 20 } } as object,
      }),
    ],
  });
  const subscription = trpc.live.tail.subscribe(input, {
    onStarted: () => {
      connections += 1;
    },
    onData: (message) => void messages.push(message),
    onError: (error) => {
      failure = error;
    },
  });
  return {
    messages,
    get failure() {
      return failure;
    },
    get connections() {
      return connections;
    },
    eventIds: () =>
      messages.flatMap(({ data }) => (data.type === 'events' ? data.events.map(({ id }) => id) : [])),
    ready: () => until(() => messages.length > 0),
    [Symbol.dispose]() {
      subscription.unsubscribe();
      void agent.destroy();
      // Checks against the documented schema, because the service does not validate messages.
      for (const { data } of messages) assert.deepStrictEqual(data, liveMessage.parse(data));
    },
  };
}

/**
 * Whether the error is not a response of the service: the connection was refused or cut, or a proxy answered.
 */
function isTransient(error: TRPCClientError<AppRouter>): boolean {
  return (error.data?.httpStatus ?? 503) >= 500;
}
