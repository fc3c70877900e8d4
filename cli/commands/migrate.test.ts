import { expect, test } from 'vitest';
import { openPostgres } from '../../lib/db/connect.ts';
import { runWeirProcess } from '../../test/support/cli/command-line.ts';
import { createDatabase } from '../../test/support/test-servers.ts';

test('an empty database is migrated, even by several processes at once', async () => {
  await using database = await createDatabase();
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 };
  await using sql = openPostgres(database.url, options);
  // The copy of the template database is migrated already.
  await sql`DROP SCHEMA drizzle CASCADE`;
  await sql`DROP SCHEMA public CASCADE`;
  await sql`CREATE SCHEMA public`;
  const variables = { DATABASE_URL: database.url };
  const runs = await Promise.all([
    runWeirProcess(['migrate'], variables),
    runWeirProcess(['migrate'], variables),
  ]);
  for (const { exitCode, stdout } of runs) expect([exitCode, stdout]).toEqual([0, '{"migrated":true}\n']);
  expect(await sql`SELECT id FROM events`).toEqual([]);
});
