import { expect, test } from 'vitest';
import { ConfigError } from '../../platform/config/config-error.ts';
import { startService } from '../../test/support/service-process.ts';
import { createDatabase, startNats } from '../../test/support/test-servers.ts';
import { openPostgres } from './connect.ts';
import { openDatabase } from './database.ts';
import { requireDurable } from './durability.ts';
import { idleInTransactionMs } from './limits.ts';

const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 };

test('a Postgres without fsync is rejected, and the writer does not start on it', async () => {
  await using backing = await createDatabase();
  await using sql = openPostgres(backing.url, options);
  const checking = requireDurable(openDatabase(sql));
  await expect(checking).rejects.toThrow(ConfigError);
  await expect(checking).rejects.toThrow(/fsync=off and full_page_writes=off.*DATABASE_ALLOW_UNSYNCED=true/);
  await using nats = await startNats();
  const variables = { DATABASE_URL: backing.url, NATS_URL: nats.url, NATS_MONITOR_URL: nats.monitorUrl };
  await expect(startService('writer', { ...variables, DATABASE_ALLOW_UNSYNCED: 'false' })).rejects.toThrow(
    /Postgres runs with fsync=off/,
  );
});

test('sessions commit synchronously despite settings of the role or database, and time out idle transactions', async () => {
  await using backing = await createDatabase();
  const name = new URL(backing.url).pathname.slice(1);
  await using first = openPostgres(backing.url, options);
  await first`ALTER DATABASE ${first(name)} SET synchronous_commit = off`;
  await first`ALTER DATABASE ${first(name)} SET idle_in_transaction_session_timeout = 0`;
  await using second = openPostgres(backing.url, options);
  const [settings] = await second`
    SELECT current_setting('synchronous_commit') AS commit,
      (SELECT setting::integer FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout') AS "idleMs"`;
  expect(settings).toEqual({ commit: 'on', idleMs: idleInTransactionMs });
});
