import assert from 'node:assert/strict';
import { createTRPCClient, httpSubscriptionLink, retryLink, type TRPCClientError } from '@trpc/client';
import type { inferRouterInputs } from '@trpc/server';
import { Agent, EventSource } from 'undici';
import { type LiveMessage, liveMessage } from '../../services/dashboard-api/live/live-message.ts';
import type { AppRouter } from '../../services/dashboard-api/router.ts';
import { until } from './wait.ts';

type TailInput = inferRouterInputs<AppRouter>['live']['tail'];

export interface LiveTail extends Disposable {
  /** Everything it was sent, with the ids. */
  readonly messages: { id: string; data: LiveMessage }[];
  /** The error that ended it. */
  readonly failure: TRPCClientError<AppRouter> | undefined;
  /** How often it was connected. */
  readonly connections: number;
  /** The ids of the events that it was sent, in order. */
  eventIds(): string[];
  /** Waits until it has a position: what is stored from now on appears. */
  ready(): Promise<void>;
}

/** Follows a live tail as a front end does: it reconnects by itself, also after a connection that was refused. */
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
        // Its types lack a member of undici's.
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
      // What is documented, and nothing else: the service does not validate messages.
      for (const { data } of messages) assert.deepStrictEqual(data, liveMessage.parse(data));
    },
  };
}

/** No answer of the service: the connection was refused or cut, or a proxy answered. */
function isTransient(error: TRPCClientError<AppRouter>): boolean {
  return (error.data?.httpStatus ?? 503) >= 500;
}
