import type { Socket } from 'node:net';
import { nextTick } from 'node:process';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { openDatabaseOutage } from '../../test/support/database-outage.ts';
import { openPostgresProxy } from '../../test/support/postgres-proxy.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { openPostgres } from './connect.ts';
import { openDatabase } from './database.ts';
import { socketOpener } from './socket.ts';

test('a query between the failure and the close of a connection fails, and later replies match their queries', async () => {
  await using database = await createDatabase();
  const open = socketOpener(0);
  const sockets: Socket[] = [];
  const socket = (target: Parameters<typeof open>[0]) => {
    const opened = open(target);
    sockets.push(opened);
    return opened;
  };
  const sql = postgres(database.url, { max: 1, fetch_types: false, ...({ socket } as object) });
  const ask = async (name: string) => (await sql<{ name: string }[]>`SELECT ${name}::text AS name`)[0]?.name;
  await ask('first');
  const [first] = sockets;
  const writtenBefore = first?.bytesWritten ?? 0;
  const underway = expect(sql`SELECT pg_sleep(60)`).rejects.toThrow('broken');
  await until(() => (first?.bytesWritten ?? 0) > writtenBefore);
  first?.destroy(new Error('broken'));
  // By then Node has reported the failure. It closes the socket later in this turn of the event loop.
  await new Promise<void>((resolve) => nextTick(() => nextTick(() => nextTick(resolve))));
  const between = expect(ask('between')).rejects.toThrow('broken');
  await Promise.all([underway, between]);
  for (const name of ['second', 'third', 'fourth']) expect(await ask(name)).toBe(name);
  await sql.end({ timeout: 1 });
});

test('after a query failed with its connection, the next one fails while the database rejects connections', async () => {
  await using database = await createDatabase();
  await using outage = openDatabaseOutage({ variables: { DATABASE_URL: database.url } });
  const socket = socketOpener(0);
  const options = { max: 1, fetch_types: false, connection: { application_name: 'weir-test' } };
  const sql = postgres(database.url, { ...options, ...({ socket } as object) });
  const underway = expect(sql`SELECT pg_sleep(60)`).rejects.toThrow();
  const isUnderway = () =>
    outage.admin`SELECT FROM pg_stat_activity WHERE datname = ${outage.name} AND query LIKE '%pg_sleep%'`;
  await until(async () => (await isUnderway()).length === 1);
  await outage.begin();
  await underway;
  for (const number of [1, 2]) await expect(sql`SELECT ${number}::integer`).rejects.toThrow();
  await outage.end();
  // The first reply on a new connection may still be the error of an old one.
  await until(() =>
    sql`SELECT 1`.then(
      () => true,
      () => false,
    ),
  );
  await sql.end({ timeout: 1 });
});

test('a connection that closes while a query waits to be written is used again', async () => {
  await using database = await createDatabase();
  const open = socketOpener(0);
  const sockets: Socket[] = [];
  const socket = (target: Parameters<typeof open>[0]) => {
    const opened = open(target);
    sockets.push(opened);
    return opened;
  };
  const sql = postgres(database.url, {
    max: 1,
    fetch_types: false,
    connect_timeout: 20,
    ...({ socket } as object),
  });
  await sql`SELECT 1`;
  const between = Promise.withResolvers<unknown>();
  // The connection is closed at the end of this turn; the driver plans the write of the query for the next
  // one.
  setImmediate(() => {
    sockets[0]?.destroy();
    sql`SELECT 2`.then(between.resolve, between.reject);
  });
  await expect(between.promise).rejects.toThrow('closed');
  for (const number of [3, 4]) expect(await sql`SELECT ${number}::integer AS number`).toEqual([{ number }]);
  await sql.end({ timeout: 1 });
});

test.each(['the driver', 'Drizzle'])(
  'a transaction of %s whose connection is closed rejects, and later ones work',
  async (kind) => {
    await using server = await createDatabase();
    await using postgres = await openPostgresProxy();
    const options = { applicationName: 'weir-test', connectionsMax: 1, statementTimeoutMs: 0 };
    await using sql = openPostgres(postgres.through(server.url), options);
    const database = openDatabase(sql);
    const begin = (statement: string) =>
      kind === 'Drizzle'
        ? database.transaction((transaction) => transaction.execute(statement))
        : sql.begin((transaction) => transaction.unsafe(statement));
    await using other = openPostgres(server.url, options);
    const isUnderway = () =>
      other`SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = 'SELECT pg_sleep(60)'`;
    const underway = expect(begin('SELECT pg_sleep(60)')).rejects.toThrow();
    await until(async () => (await isUnderway()).length === 1);
    await postgres.proxy.cut();
    await underway;
    await postgres.proxy.heal();
    await until(() =>
      sql`SELECT 1`.then(
        () => true,
        () => false,
      ),
    );
    for (const number of [2, 3])
      expect([...(await begin(`SELECT ${number} AS number`))]).toEqual([{ number }]);
    // An error of a statement or of the code rolls back as before.
    await expect(begin('SELECT 1 / 0')).rejects.toThrow();
    await expect(sql.begin(() => Promise.reject(new Error('own')))).rejects.toThrow('own');
    expect([...(await begin('SELECT 4 AS number'))]).toEqual([{ number: 4 }]);
    const mode = await sql.begin('READ ONLY', (transaction) => transaction`SHOW transaction_read_only`);
    expect([...mode]).toEqual([{ transaction_read_only: 'on' }]);
  },
);

test('a large reply is read over several turns of the event loop', async () => {
  await using database = await createDatabase();
  const open = socketOpener(0);
  let [mostBytes, bytesInTurn] = [0, 0];
  const socket = (target: Parameters<typeof open>[0]) =>
    open(target).on('data', ({ length }) => {
      if (bytesInTurn === 0)
        setImmediate(() => {
          bytesInTurn = 0;
        });
      bytesInTurn += length;
      mostBytes = Math.max(mostBytes, bytesInTurn);
    });
  const sql = postgres(database.url, { max: 1, fetch_types: false, ...({ socket } as object) });
  const rows = await sql`SELECT number, repeat('x', 100) FROM generate_series(1, 100000) AS number`;
  expect(rows).toHaveLength(100_000);
  expect(mostBytes).toBeLessThanOrEqual(2 * 65_536);
  await sql.end({ timeout: 1 });
});
