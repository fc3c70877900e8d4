import {
  createTRPCClient,
  httpBatchLink,
  httpLink,
  httpSubscriptionLink,
  retryLink,
  splitLink,
  type TRPCClientError,
} from '@trpc/client';
import { Agent, EventSource } from 'undici';
import type { AppRouter } from '../services/dashboard-api/router.ts';

/**
 * A client of the dashboard API as a starting point for a front end. All calls are typed by `AppRouter`, a
 * type-only import.
 *
 * A browser stores and sends the session cookie and has EventSource: there, leave out `fetch`, `EventSource`
 * and `eventSourceOptions`. Outside of a browser this file stores the cookie.
 *
 * @param origin such as `http://127.0.0.1:8081`.
 */
export function openDashboardClient(origin: string) {
  const url = `${origin}/trpc`;
  const cookies = openCookieJar();
  const links = { url, fetch: cookies.fetch };
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: ({ type }) => type === 'subscription',
        true: [
          // EventSource reconnects by itself, but not after a response such as a proxy's 502. This link
          // resumes after the last id.
          retryLink({ retry: ({ error }) => isTransient(error), retryDelayMs: backOffMs }),
          httpSubscriptionLink({
            url,
            EventSource,
            // The types of undici lack this member.
            eventSourceOptions: { node: { dispatcher: cookies.dispatcher } } as object,
          }),
        ],
        false: splitLink({
          // Do not batch these: all calls of a batch wait for the slowest one, and a batch has only one
          // response to set cookies.
          condition: ({ path }) => path.startsWith('auth.') || path === 'events.get',
          true: httpLink(links),
          false: httpBatchLink({ ...links, maxItems: 20, maxURLLength: 8_000 }),
        }),
      }),
    ],
  });
}

/** Signs in, prints the newest events, then each new one as it is stored, until the signal is aborted. */
export async function followEvents(
  trpc: ReturnType<typeof openDashboardClient>,
  { email, password }: { email: string; password: string },
  { print, signal }: { print: (line: string) => void; signal: AbortSignal },
): Promise<void> {
  const me = await trpc.auth.signIn.mutate({ email, password });
  if ('secondFactors' in me)
    throw new Error('This user has a second factor: call auth.giveCode with a code.');
  const { spaces } = me;
  const spaceId = spaces[0]?.id;
  // Read the cursor before the list, so that no event is missed between them. An event in both has the same
  // id.
  const { cursor } = await trpc.live.since.query({ spaceId });
  const { events } = await trpc.events.list.query({ spaceId, limit: 20 });
  const shown = new Set(events.map(({ id }) => id));
  for (const event of events.toReversed()) print(lineOf(event));
  await new Promise<void>((resolve, reject) => {
    const subscription = trpc.live.tail.subscribe(
      { spaceId, lastEventId: cursor },
      {
        onData: ({ data }) => {
          if (data.type === 'skipped')
            print(`… ${data.skipped.events ?? 'some'} events were stored meanwhile`);
          if (data.type !== 'events') return;
          for (const event of data.events) if (!shown.has(event.id)) print(lineOf(event));
        },
        // The session is over, or the role is gone: sign in again.
        onError: reject,
      },
    );
    signal.addEventListener('abort', () => {
      subscription.unsubscribe();
      resolve();
    });
  });
}

function lineOf({
  id,
  type,
  name,
  durationMs,
}: {
  id: string;
  type: string;
  name: string | null;
  durationMs: number;
}) {
  return `${id} ${type} ${name ?? ''} ${durationMs} ms`;
}

/** Whether a retry may succeed: there was no response, or a server error. */
function isTransient(error: TRPCClientError<AppRouter>): boolean {
  return (error.data?.httpStatus ?? 503) >= 500;
}

function backOffMs(attempt: number): number {
  return Math.min(250 * 2 ** attempt, 10_000) * (0.5 + Math.random() / 2);
}

/** Stores the session cookie and sends it, like a browser. */
function openCookieJar() {
  let cookie = '';
  const dispatcher = new Agent({ bodyTimeout: 0 }).compose((dispatch) => (options, handler) => {
    const headers = { ...(options.headers as Record<string, string>), cookie };
    return dispatch({ ...options, headers }, handler);
  });
  const keep = async (address: URL | string | Request, init?: { headers?: unknown }): Promise<Response> => {
    const headers = { ...(init?.headers as Record<string, string>), cookie };
    const response = await fetch(address, { ...(init as RequestInit), headers });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) cookie = set.split(';')[0] ?? '';
    return response;
  };
  return { dispatcher, fetch: keep };
}
