import { createTRPCClient, httpLink } from '@trpc/client';
import type { Connection } from '../../launcher/local-system.ts';
import type { AppRouter } from '../../services/dashboard-api/router.ts';

/** A client of the dashboard API with a session. */
export interface DashboardClient {
  trpc: ReturnType<typeof createTRPCClient<AppRouter>>;
  /** The session's cookie, for requests outside of tRPC. */
  cookie(): string;
}

/** Signs in as the owner of the system's space. */
export async function openDashboardClient({
  dashboardUrl,
  email,
  password,
}: Pick<Connection, 'dashboardUrl' | 'email' | 'password'>): Promise<DashboardClient> {
  let cookie = '';
  const trpc = createTRPCClient<AppRouter>({
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
  await trpc.auth.signIn.mutate({ email, password });
  return { trpc, cookie: () => cookie };
}
