import { readFileSync } from 'node:fs';
import { getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { createDatabase } from '../../../test/support/test-servers.ts';
import { distributeDatabase } from '../../migrate/migrate.ts';
import { openPostgres } from '../connect.ts';
import { openDatabase } from '../database.ts';
import * as schema from '../schema.ts';
import { changeShardsInSequence, distributedTables } from './distribution.ts';

/** Checks the requirements of Citus for distributed tables, on a plain Postgres (docs/cluster.md). */

const names = distributedTables.map(getTableName);

async function openTest() {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await createDatabase());
  const sql = stack.use(
    openPostgres(url, { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 }),
  );
  const owned = stack.move();
  return { url, sql, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test('every table with a space is distributed by it, except those that refer to tables of the coordinator', () => {
  const tables = Object.values(schema).filter((one) => is(one, PgTable));
  const local = tables.map(getTableName).filter((name) => !names.includes(name));
  expect(names[0]).toBe('events');
  for (const name of ['segments', 'event_ids', 'usage_months', 'event_stats', 'agent_stats', 'quarantine'])
    expect(names).toContain(name);
  for (const name of ['spaces', 'api_keys', 'users', 'sessions', 'memberships', 'erasures', 'audit_log'])
    expect(local).toContain(name);
});

test('the unique keys of distributed tables and of their partitions contain the space', async () => {
  await using database = await openTest();
  const list = `{${names.join()}}`;
  const keys = await database.sql<{ name: string; columns: string[] }[]>`
    SELECT indexrelid::regclass::text AS name, ARRAY(
      SELECT attname::text FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY (indkey)) AS columns
    FROM pg_index WHERE indisunique AND (indrelid = ANY (${list}::text[]::regclass[])
      OR indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = ANY (${list}::text[]::regclass[])))`;
  expect(keys.length).toBeGreaterThan(names.length);
  for (const { name, columns } of keys)
    expect([name, String(columns)]).toEqual([name, expect.stringContaining('space_id')]);
});

test('distributed tables have no triggers, no foreign keys, and nothing refers to them', async () => {
  await using database = await openTest();
  const list = `{${names.join()}}`;
  const found = await database.sql`
    SELECT tgname AS name FROM pg_trigger WHERE tgrelid = ANY (${list}::text[]::regclass[])
    UNION ALL SELECT conname FROM pg_constraint
      WHERE contype = 'f' AND (conrelid = ANY (${list}::text[]::regclass[]) OR confrelid = ANY (${list}::text[]::regclass[]))`;
  expect(found).toEqual([]);
});

/** The first migration runs before the tables are distributed. */
const migrationsBefore = 1;

test('no later migration uses statements that Citus rejects on distributed tables', () => {
  const read = (file: string) => readFileSync(new URL(`../migrations/${file}`, import.meta.url), 'utf8');
  const journal: { entries: { idx: number; tag: string }[] } = JSON.parse(read('meta/_journal.json'));
  const refused = new RegExp(
    `SET STORAGE|TRIGGER [^;]*\\bON "?(${names.join('|')})\\b|CREATE UNIQUE INDEX [^;]*\\bON "?(${names.join('|')})\\b(?![^;]*space_id)`,
    'i',
  );
  const wrong = journal.entries
    .filter(({ idx }) => idx >= migrationsBefore)
    .flatMap(({ tag }) => refused.exec(read(`${tag}.sql`))?.[0] ?? []);
  expect(wrong).toEqual([]);
  expect(refused.test('CREATE TRIGGER t AFTER INSERT ON "events" FOR EACH ROW')).toBe(true);
  expect(refused.test('ALTER TABLE segments ALTER COLUMN body SET STORAGE PLAIN')).toBe(true);
});

test('a Postgres without Citus is migrated, and not distributed', async () => {
  await using database = await openTest();
  await changeShardsInSequence(openDatabase(database.sql));
  await expect(distributeDatabase(database.url)).rejects.toThrow(
    'The database does not have the Citus extension',
  );
});
