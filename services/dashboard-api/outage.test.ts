import { expect, test, vi } from 'vitest';
import { openClient, openDashboard } from '../../test/support/dashboard.ts';
import { Passage } from '../../test/support/passage.ts';

test('while Postgres is away every call says so, and when it is back the same session goes on', async () => {
  await using passage = await Passage.open();
  await using dashboard = await openDashboard({ through: (url) => passage.lead(url) });
  const { client, email, password } = await dashboard.addSpace();
  const status = async (path: string) => (await fetch(`${dashboard.url}${path}`)).status;
  expect(await status('/readyz')).toBe(200);

  await passage.shut();
  const away = { message: expect.stringContaining('Try again'), data: { code: 'SERVICE_UNAVAILABLE' } };
  // More often than the pool has connections: each must be made again.
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

  await passage.reopen();
  await vi.waitFor(() => client.trpc.usage.current.query(), { timeout: 10_000, interval: 100 });
  await vi.waitFor(async () => expect(await status('/readyz')).toBe(200), { timeout: 10_000 });
  expect((await client.trpc.events.list.query()).events).toEqual([]);
});

test('what was not foreseen is told to nobody', async () => {
  await using dashboard = await openDashboard();
  const { client } = await dashboard.addSpace();
  await dashboard.sql`ALTER TABLE events RENAME TO gone`;
  await expect(client.trpc.events.list.query()).rejects.toMatchObject({
    message: 'Something went wrong on our side.',
    data: { code: 'INTERNAL_SERVER_ERROR' },
  });
});
