import { expect, test } from 'vitest';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { openPostgres, type Sql } from './connect.ts';
import { leaveReadOnlySession } from './read-only.ts';

const connectionsMax = 3;
const everyConnection = [...Array(connectionsMax).keys()];

/** The backend of each connection of an idle pool, which gives each idle connection one query. */
async function describeSessions(sql: Sql): Promise<{ pid: number; isReadOnly: boolean }[]> {
  const rows = await Promise.all(
    everyConnection.map(
      () => sql<{ pid: number; isReadOnly: boolean }[]>`
        SELECT pg_backend_pid() AS pid, current_setting('transaction_read_only')::bool AS "isReadOnly"`,
    ),
  );
  return rows.flat().toSorted((a, b) => a.pid - b.pid);
}

/**
 * Makes one session read-only, like one that started while the server was. @returns the error of a write in
 * it.
 */
async function demoteOne(sql: Sql): Promise<unknown> {
  await sql`SELECT set_config('default_transaction_read_only', 'on', false)`;
  const writes = await Promise.allSettled(
    everyConnection.map((n) => sql.unsafe(`CREATE TABLE written_${n} (id integer)`)),
  );
  return writes.find((write) => write.status === 'rejected')?.reason;
}

/**
 * The pool uses its idle connections in turn: runs queries until the read-only session was the last one used.
 */
async function useReadOnlySessionLast(sql: Sql): Promise<void> {
  for (let isReadOnly = false; !isReadOnly; ) {
    const [row] = await sql<
      { isReadOnly: boolean }[]
    >`SELECT current_setting('transaction_read_only')::bool AS "isReadOnly"`;
    isReadOnly = row?.isReadOnly === true;
  }
}

test('only read-only sessions are ended, and the pool can write again', async () => {
  await using database = await createDatabase();
  await using sql = openPostgres(database.url, {
    applicationName: 'test',
    connectionsMax,
    statementTimeoutMs: 0,
  });
  const error = await demoteOne(sql);
  const before = await describeSessions(sql);
  const writable = before.filter(({ isReadOnly }) => !isReadOnly).map(({ pid }) => pid);
  expect(writable).toHaveLength(connectionsMax - 1);

  await leaveReadOnlySession(sql, new Error('another error'));
  expect(await describeSessions(sql)).toEqual(before);

  await useReadOnlySessionLast(sql);
  await leaveReadOnlySession(sql, error);
  // A query that is sent before the ended connection has closed fails with it.
  let after = before;
  await until(async () => {
    after = await describeSessions(sql).catch(() => before);
    return after !== before;
  });
  expect(after.filter(({ isReadOnly }) => isReadOnly)).toEqual([]);
  expect(after.map(({ pid }) => pid)).toEqual(expect.arrayContaining(writable));
});
