import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, inject, test } from 'vitest';
import { parseConfig } from '../platform/config.ts';
import { createDatabase, startNats } from '../test/support/test-servers.ts';
import { preflight } from './preflight.ts';

const freePorts = { INGEST_PORT: '0', DASHBOARD_PORT: '0' };

function check(variables: Record<string, string>): Promise<void> {
  return preflight(parseConfig({ ...freePorts, ...variables }));
}

test('a valid configuration passes', async () => {
  await using database = await createDatabase();
  await using nats = await startNats();
  const own = { DATABASE_URL: database.url, NATS_URL: nats.url, NATS_MONITOR_URL: nats.monitorUrl };
  await check({ ...own, DATABASE_ALLOW_UNSYNCED: 'true' });
  // The Postgres of the tests runs without fsync.
  await expect(check(own)).rejects.toThrow(/fsync=off/);
});

test('all errors are reported together', async () => {
  await using taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const mistakes = check({
    INGEST_PORT: port,
    DASHBOARD_PORT: port,
    DATABASE_URL: 'postgres://weir@127.0.0.1:1/weir',
    NATS_URL: 'nats://127.0.0.1:1',
  });
  await expect(mistakes).rejects.toThrow(
    new RegExp(
      `Port ${port} on 127.0.0.1 is in use.*INGEST_PORT.*\\n.*DASHBOARD_PORT.*\\n.*are both ${port}.*\\n` +
        'No Postgres responds at 127.0.0.1:1 .*DATABASE_URL.*\\nNo nats-server answers at .*NATS_URL',
    ),
  );
});

test('the error of a Postgres that rejects the connection names the reason', async () => {
  const wrongPassword = new URL(inject('templateDatabaseUrl'));
  wrongPassword.password = 'wrong';
  await expect(check({ DATABASE_URL: wrongPassword.href })).rejects.toThrow(/rejects the password of weir/);
  const missing = new URL(inject('templateDatabaseUrl'));
  missing.pathname = '/missing';
  await expect(check({ DATABASE_URL: missing.href })).rejects.toThrow(/has no database missing: create it/);
});

test('the error of a nats-server that rejects the connection names the reason', async () => {
  await using nats = await startNats();
  const wrong = new URL(nats.url);
  wrong.password = 'wrong';
  await expect(check({ NATS_URL: wrong.href })).rejects.toThrow(/Authorization.*NATS_URL/i);
});

test('the error of an address that is not local names the variable', async () => {
  await expect(check({ INGEST_HOST: '192.0.2.1' })).rejects.toThrow(/EADDRNOTAVAIL.*set INGEST_HOST/);
});
