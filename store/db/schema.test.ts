import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres, type Sql } from './connect.ts';

/**
 * `npm run check` compares schema.ts with drizzle-kit's snapshot of the last migration. Migrations are partly
 * written by hand, so this compares the snapshot with their result, and so schema.ts with the database.
 */
interface Snapshot {
  tables: Record<string, SnapshotTable>;
}

interface SnapshotTable {
  name: string;
  columns: Record<
    string,
    { name: string; type: string; primaryKey: boolean; notNull: boolean; default?: unknown }
  >;
  indexes: Record<string, SnapshotIndex>;
  compositePrimaryKeys: Record<string, { name: string; columns: string[] }>;
  uniqueConstraints: Record<string, { name: string; columns: string[] }>;
  foreignKeys: Record<string, { name: string; columnsFrom: string[] }>;
  checkConstraints: Record<string, { name: string }>;
}

interface SnapshotIndex {
  name: string;
  isUnique: boolean;
  method: string;
  where?: string;
  with: Record<string, number>;
  columns: { expression: string; asc: boolean }[];
}

/** A table, in a form common to both sides. */
interface Described {
  columns: Record<string, string>;
  /** The names of constraints, and the columns of those that have some. */
  constraints: string[];
  indexes: string[];
}

function readSnapshot(): Record<string, Described> {
  const read = (file: string) =>
    JSON.parse(readFileSync(new URL(`migrations/meta/${file}`, import.meta.url), 'utf8'));
  const journal: { entries: { idx: number }[] } = read('_journal.json');
  const last = String(journal.entries.at(-1)?.idx).padStart(4, '0');
  const { tables }: Snapshot = read(`${last}_snapshot.json`);
  return Object.fromEntries(Object.values(tables).map((table) => [table.name, describe(table)]));
}

function describe(table: SnapshotTable): Described {
  const columns = Object.values(table.columns);
  const single = columns
    .filter((column) => column.primaryKey)
    .map((column) => `${table.name}_pkey (${column.name})`);
  const others = [
    ...Object.values(table.compositePrimaryKeys),
    ...Object.values(table.uniqueConstraints),
    ...Object.values(table.foreignKeys).map(({ name, columnsFrom }) => ({ name, columns: columnsFrom })),
  ].map((key) => `${key.name} (${key.columns.join()})`);
  const checks = Object.values(table.checkConstraints).map(({ name }) => name);
  return {
    columns: Object.fromEntries(
      columns.map(({ name, type, notNull, default: value }) => [
        name,
        [type, notNull && 'not null', value !== undefined && `default ${value}`].filter(Boolean).join(' '),
      ]),
    ),
    constraints: [...single, ...others, ...checks].sort(),
    indexes: Object.values(table.indexes).map(describeIndex).sort(),
  };
}

function describeIndex({ name, isUnique, method, where, columns, with: options }: SnapshotIndex): string {
  const names = columns.map(({ expression, asc }) => (asc ? expression : `${expression} DESC NULLS LAST`));
  const condition = where?.replaceAll(/"\w+"\.|"/g, '');
  const settings = Object.entries(options).map(([key, value]) => `${key}='${value}'`);
  return [
    `${name}${isUnique ? ' UNIQUE' : ''} USING ${method} (${names.join(', ')})`,
    settings.length > 0 && `WITH (${settings.join(', ')})`,
    condition !== undefined && `WHERE ${condition.replaceAll(/[()]/g, '')}`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** Tables, without their partitions. */
async function describeDatabase(sql: Sql): Promise<Record<string, Described>> {
  const rows = await sql<(Described & { name: string })[]>`
    SELECT relname AS name,
      (SELECT json_object_agg(attname, concat_ws(' ', format_type(atttypid, atttypmod),
          CASE WHEN attnotnull THEN 'not null' END, 'default ' || pg_get_expr(adbin, adrelid)))
        FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped) AS columns,
      (SELECT coalesce(json_agg(shown ORDER BY shown COLLATE "C"), '[]') FROM (
          SELECT CASE contype WHEN 'c' THEN conname ELSE conname || ' (' || (
            SELECT string_agg(attname, ',' ORDER BY place) FROM unnest(conkey) WITH ORDINALITY AS key(attnum, place)
            JOIN pg_attribute USING (attnum) WHERE attrelid = conrelid) || ')' END AS shown
          FROM pg_constraint WHERE conrelid = pg_class.oid AND contype IN ('p', 'u', 'f', 'c')) AS named) AS constraints,
      (SELECT coalesce(json_agg(definition ORDER BY definition COLLATE "C"), '[]') FROM (
          SELECT regexp_replace(pg_get_indexdef(indexrelid), '^CREATE( UNIQUE|) INDEX (\\w+) ON .*? USING', '\\2\\1 USING') AS definition
          FROM pg_index WHERE indrelid = pg_class.oid
            AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)) AS indexes) AS indexes
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`;
  return Object.fromEntries(rows.map(({ name, ...described }) => [name, described]));
}

test('the migrations create the tables, keys, checks and indexes of the schema', async () => {
  await using database = await createDatabase();
  await using sql = openPostgres(database.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  const expected = readSnapshot();
  expect(Object.keys(expected).length).toBeGreaterThan(10);
  expect(withoutCasts(await describeDatabase(sql))).toEqual(expected);
});

/**
 * Postgres shows the default 'active' as 'active'::text, and conditions of indexes with parentheses around
 * each part.
 */
function withoutCasts(described: Record<string, Described>): unknown {
  const text = JSON.stringify(described)
    .replaceAll(/('[\w{}]*')::text(?:\[\])?/g, '$1')
    .replaceAll(/WHERE [^"]*/g, (condition) => condition.replaceAll(/[()]/g, ''));
  return JSON.parse(text);
}
