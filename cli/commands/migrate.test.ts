import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { expect, test } from 'vitest';
import { openPostgres } from '../../store/db/connect.ts';
import { requireSchema } from '../../store/migrate/schema-range.ts';
import { runWeir, runWeirProcess } from '../../test/support/cli/command-line.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';

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

const migrationsFolder = fileURLToPath(new URL('../../store/db/migrations', import.meta.url));
const options = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 0 };

/** A database of Weir 0.1.0, with one space. */
async function createOldDatabase() {
  const database = await createDatabase();
  await using sql = openPostgres(database.url, { ...options, connectionsMax: 1 });
  await sql`DROP SCHEMA drizzle CASCADE`;
  await sql`DROP SCHEMA public CASCADE`;
  await sql`CREATE SCHEMA public`;
  const [first] = readMigrationFiles({ migrationsFolder });
  if (first === undefined) throw new Error('there is no first migration');
  await sql.unsafe(first.sql.join(''));
  await sql`CREATE SCHEMA drizzle`;
  await sql`CREATE TABLE drizzle.__drizzle_migrations (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`;
  await sql`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES (${first.hash}, ${first.folderMillis})`;
  await sql`INSERT INTO spaces (name) VALUES ('kept')`;
  return database;
}

test('a database of 0.1.0: --plan says what is locked and changes nothing; a migration waits for locks without blocking others', async () => {
  await using database = await createOldDatabase();
  await using sql = openPostgres(database.url, options);
  const variables = { DATABASE_URL: database.url };
  const count = async () => (await sql`SELECT FROM drizzle.__drizzle_migrations`).length;
  const planned = await runWeir(['migrate', '--plan'], variables);
  const steps = planned.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(steps.length).toBeGreaterThan(3);
  for (const step of steps)
    expect(step).toEqual({ statement: expect.any(String), locks: expect.any(String), isOnline: false });
  expect(steps.map(({ locks }) => locks)).toContain('reads and writes of events, for milliseconds');
  expect(await count()).toBe(1);

  // A long query, such as an export. The migration waits for it, and reads of others are delayed for one lock
  // time-out at most.
  const release = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holding = sql.begin(async (holder) => {
    // A busy machine may need more than 15 s to start the command.
    await holder`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await holder`SELECT FROM events LIMIT 1`;
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const migrating = runWeir(['migrate'], variables);
  await until(
    async () =>
      (await sql`SELECT FROM pg_locks WHERE NOT granted AND relation = 'events'::regclass`).length > 0,
  );
  expect(await sql`SELECT FROM events LIMIT 1`).toEqual([]);
  release.resolve();
  await holding;
  expect(await migrating).toMatchObject({ exitCode: 0, stdout: '{"migrated":true}\n' });
  expect(await count()).toBe(readMigrationFiles({ migrationsFolder }).length);
  expect(await sql`SELECT name FROM spaces`).toEqual([{ name: 'kept' }]);
  expect((await runWeir(['migrate', '--plan'], variables)).stdout).toBe('');
});

test('services need the schema of their version, or a newer one that allows it', async () => {
  await using database = await createOldDatabase();
  await using sql = openPostgres(database.url, options);
  await expect(requireSchema(sql)).rejects.toThrow('Run `weir migrate`');
  expect((await runWeir(['migrate'], { DATABASE_URL: database.url })).exitCode).toBe(0);
  await requireSchema(sql);
  await sql`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES ('of a later version', ${Date.UTC(2100, 0)})`;
  await requireSchema(sql);
  await sql`COMMENT ON TABLE drizzle.__drizzle_migrations IS 'weir >= 0.10.0'`;
  await expect(requireSchema(sql)).rejects.toThrow('works with 0.10.0 and newer');
  await sql`COMMENT ON TABLE drizzle.__drizzle_migrations IS NULL`;
  await expect(requireSchema(sql)).rejects.toThrow('a newer version of Weir');
  expect((await runWeir(['migrate'], { DATABASE_URL: database.url })).exitCode).toBe(1);
});
