import { expect, test } from 'vitest';
import { openPostgres } from '../lib/db/connect.ts';
import { createDatabase } from '../test/support/backing.ts';
import { runWeir } from '../test/support/command-line.ts';

test('an empty database is brought to the schema, several times at once too', async () => {
  await using database = await createDatabase();
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 };
  await using sql = openPostgres(database.url, options);
  // What a copy of the template has, away with it.
  await sql`DROP SCHEMA drizzle CASCADE`;
  await sql`DROP SCHEMA public CASCADE`;
  await sql`CREATE SCHEMA public`;
  const variables = { DATABASE_URL: database.url };
  const runs = await Promise.all([runWeir(['migrate'], variables), runWeir(['migrate'], variables)]);
  for (const { exitCode, stdout } of runs) expect([exitCode, stdout]).toEqual([0, '{"migrated":true}\n']);
  expect(await sql`SELECT id FROM events`).toEqual([]);
});
