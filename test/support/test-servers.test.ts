import { expect, test } from 'vitest';
import { openPostgres } from '../../store/db/connect.ts';
import { createDatabase, startNats } from './test-servers.ts';

const pool = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 5_000 };

test('each test database is migrated and empty, and separate from the others', async () => {
  await using first = await createDatabase();
  await using second = await createDatabase();
  await using sql = openPostgres(first.url, pool);
  await using other = openPostgres(second.url, pool);
  await sql`INSERT INTO spaces (name) VALUES ('one')`;
  expect(await other`SELECT * FROM spaces`).toHaveLength(0);
});

test('the test nats-server fsyncs every message, and can be restarted after SIGKILL', async () => {
  await using nats = await startNats();
  const jetstream = async (monitorUrl: string) =>
    (await (await fetch(`${monitorUrl}/jsz?config=1`)).json()) as { config: { sync_always: boolean } };
  expect((await jetstream(nats.monitorUrl)).config.sync_always).toBe(true);
  process.kill(nats.pid, 'SIGKILL');
  expect(await nats.exited).toEqual({ code: null, signal: 'SIGKILL' });
  const again = await nats.restart();
  expect(again.url).toBe(nats.url);
});
