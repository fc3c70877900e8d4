import { expect, test, vi } from 'vitest';
import { openClient, openDashboard } from '../../test/support/dashboard.ts';
import { openPostgresProxy } from '../../test/support/postgres-proxy.ts';
import { until } from '../../test/support/wait.ts';

test('while Postgres is unreachable calls are SERVICE_UNAVAILABLE, and afterwards the session still works', async () => {
  await using postgres = await openPostgresProxy();
  await using dashboard = await openDashboard({ through: postgres.through });
  const { client, email, password } = await dashboard.addSpace();
  const status = async (path: string) => (await fetch(`${dashboard.url}${path}`)).status;
  expect(await status('/readyz')).toBe(200);

  await postgres.proxy.cut();
  const away = { message: expect.stringContaining('Try again'), data: { code: 'SERVICE_UNAVAILABLE' } };
  // More calls than the pool has connections, so that each connection is reopened.
  for (let i = 0; i < 5; i++) {
    const calls = [
      client.trpc.me.query(),
      client.trpc.events.list.query(),
      client.trpc.usage.current.query(),
      openClient(dashboard.url).trpc.auth.signIn.mutate({ email, password }),
    ];
    await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(away)));
  }
  expect(await status('/readyz')).toBe(503);
  expect(await status('/healthz')).toBe(200);

  await postgres.proxy.heal();
  await vi.waitFor(() => client.trpc.usage.current.query(), { timeout: 60_000, interval: 100 });
  await until(async () => (await status('/readyz')) === 200);
  expect((await client.trpc.events.list.query()).events).toEqual([]);
});

test('an unexpected error reveals nothing internal to the client', async () => {
  await using dashboard = await openDashboard();
  const { client } = await dashboard.addSpace();
  await dashboard.sql`ALTER TABLE events RENAME TO gone`;
  await expect(client.trpc.events.list.query()).rejects.toMatchObject({
    message: 'An internal error occurred.',
    data: { code: 'INTERNAL_SERVER_ERROR' },
  });
});
