import { setTimeout as sleep } from 'node:timers/promises';
import { createTRPCClient, httpLink } from '@trpc/client';
import { createLatencies } from '../../lib/client/latencies.ts';
import { openPost } from '../../lib/client/post.ts';
import type { Connection } from '../../lib/connection.ts';
import type { AppRouter } from '../../services/dashboard-api/router.ts';
import type { Workload } from './workload.ts';

const samples = 40;

/** From the 202 of an event to its showing in the dashboard API, as a client that asks all the time sees it. */
export async function measureVisibility(connection: Connection, workload: Workload) {
  const { ingestUrl: url, apiKey, spaceId } = connection;
  await using client = openPost({ url, apiKey, connections: 1, timeoutMs: 10_000 });
  const dashboard = await signIn(connection);
  const latencies = createLatencies();
  for (let i = 0; i < samples; i++) {
    const body = workload.nextSingle();
    const id: string = JSON.parse(body.toString()).events[0].id;
    await client.post(body);
    const acceptedMs = performance.now();
    while (!(await isVisible(dashboard, spaceId, id))) await sleep(2);
    latencies.record(performance.now() - acceptedMs);
  }
  return { visibleP50Ms: latencies.percentileMs(50), visibleP99Ms: latencies.percentileMs(99) };
}

async function signIn({ dashboardUrl, email, password }: Connection) {
  let cookie = '';
  const dashboard = createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `${dashboardUrl}/trpc`,
        headers: () => ({ cookie }),
        async fetch(target, init) {
          const response = await fetch(target, init as RequestInit);
          cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
          return response;
        },
      }),
    ],
  });
  await dashboard.auth.signIn.mutate({ email, password });
  return dashboard;
}

async function isVisible(dashboard: Awaited<ReturnType<typeof signIn>>, spaceId: string, id: string) {
  return dashboard.events.get.query({ spaceId, id }).then(
    () => true,
    () => false,
  );
}
