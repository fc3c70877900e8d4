import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql as query } from 'drizzle-orm';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { codeOf, unreachableCodes } from '../../platform/thrown.ts';
import { openPostgresProxy } from '../../test/support/postgres-proxy.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { openPostgres } from './connect.ts';
import { openDatabase } from './database.ts';
import { spaces } from './schema.ts';

test('the error of a failed query is the driver’s own, and does not repeat the parameters', async () => {
  await using backing = await createDatabase();
  await using sql = openPostgres(backing.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  const values = { name: 'a secret', monthlyEventLimit: -1 };
  const failing = [
    () => database.insert(spaces).values(values),
    () => database.execute(query`SELECT 1 / length(${'a secret'}::text) / 0`),
    () => database.transaction((transaction) => transaction.insert(spaces).values(values)),
  ];
  for (const run of failing) {
    const error: unknown = await run().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(postgres.PostgresError);
    expect(String(error)).not.toContain('a secret');
  }
});

test.each([
  ['Drizzle', 'at once'],
  ['Drizzle', 'later'],
  ['Drizzle', 'when another is open'],
  ['the driver', 'at once'],
  ['the driver', 'later'],
])('a transaction of %s whose connection was closed runs no further statement %s', async (kind, next) => {
  await using backing = await createDatabase();
  await using postgres = await openPostgresProxy();
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 };
  await using other = openPostgres(backing.url, options);
  await using sql = openPostgres(postgres.through(backing.url), options);
  const database = openDatabase(sql);
  const [late, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
  const runTwo = async (run: (statement: string) => Promise<unknown>) => {
    await run('SELECT pg_sleep(60)').catch(() => {});
    if (next !== 'at once') await late.promise;
    await run("INSERT INTO spaces (name) VALUES ('late')").catch(refused.resolve);
    throw new Error('an error of its own');
  };
  const transaction =
    kind === 'Drizzle'
      ? database.transaction((transaction) => runTwo(async (statement) => transaction.execute(statement)))
      : sql.begin((transaction) => runTwo(async (statement) => transaction.unsafe(statement)));
  const ended = expect(transaction).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  const isUnderway = () =>
    other`SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = 'SELECT pg_sleep(60)'`;
  await until(async () => (await isUnderway()).length === 1);
  postgres.proxy.reset();
  await ended;
  if (next === 'when another is open') await sql`SELECT 1`;
  late.resolve();
  expect(unreachableCodes).toContain(codeOf(await refused.promise));
  expect(await database.select().from(spaces)).toEqual([]);
});

test('a transaction whose connection was closed does not commit the one that has it since', async () => {
  await using backing = await createDatabase();
  await using postgres = await openPostgresProxy();
  await using sql = openPostgres(postgres.through(backing.url), {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  const [begun, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = database.transaction(async (transaction) => {
    await transaction.execute('SELECT 1');
    begun.resolve();
    await late.promise;
  });
  const ended = expect(first).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  await begun.promise;
  postgres.proxy.reset();
  await ended;
  const second = database.transaction(async (transaction) => {
    await transaction.insert(spaces).values({ name: 'rolled back' });
    late.resolve();
    // A COMMIT of the first one would be written before this.
    await nextTurn();
    await transaction.execute('SELECT 1');
    throw new Error('an error of its own');
  });
  await expect(second).rejects.toThrow('an error of its own');
  expect(await database.select().from(spaces)).toEqual([]);
});
