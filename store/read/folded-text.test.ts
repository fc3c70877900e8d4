import { type SQL, sql } from 'drizzle-orm';
import { expect, inject, test } from 'vitest';
import { openPostgres } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { migrateDatabase } from '../migrate/migrate.ts';
import { containsFolded, hasFoldedText, startsFolded } from './folded-text.ts';

/** Every letter with cases, and what it becomes in them. */
const letters = [
  ...new Set(
    Array.from({ length: 0x20_000 }, (_, codePoint) => String.fromCodePoint(codePoint))
      .filter((letter) => /\p{Changes_When_Casemapped}/u.test(letter))
      .flatMap((letter) => [letter, ...letter.toLowerCase(), ...letter.toUpperCase()]),
  ),
];

test.each([
  ['C', sql`LOCALE 'C'`],
  ['built in', sql`LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'`],
  ['of the operating system', sql`LOCALE_PROVIDER libc LOCALE 'C.UTF-8'`],
])('letters of every script are compared alike in a database whose locale is %s', async (_, locale) => {
  await using created = await createWith(locale);
  const { database } = created;
  // Newer letters of Node's Unicode are none yet for Postgres.
  const rows = await database.execute<{ letter: string; same: string }>(sql`
    WITH letters AS (
      SELECT letter, casefold(letter COLLATE "pg_c_utf8") AS folded FROM json_array_elements_text(${JSON.stringify(letters)}) AS letter
      WHERE unicode_assigned(letter))
    SELECT letter, (SELECT string_agg(other.letter, '') FROM letters AS other WHERE other.folded = letters.folded) AS same
    FROM letters`);
  const all = rows.map(({ letter }) => letter).join('');
  const differing = rows.filter(
    ({ letter, same }) => [...same].toSorted().join() !== casesIn(all, letter).toSorted().join(),
  );
  expect(differing).toEqual([]);
  expect(rows.length).toBeGreaterThan(2_500);

  for (const [text, wanted, contains, starts] of [
    ['Übersicht für Ἀθήνα', 'ἀΘΉΝΑ', true, false],
    ['Übersicht', 'übER', true, true],
    ['100 %', '0_%', false, false],
    ['a\\b', '\\B', true, false],
    ['abc', 'a.c', false, false],
  ] as const) {
    const [row] = await database.execute(
      sql`SELECT ${containsFolded(sql`${text}::text`, wanted)} AS contains, ${startsFolded(sql`${text}::text`, wanted)} AS starts`,
    );
    expect(row).toEqual({ contains, starts });
    expect(hasFoldedText(wanted)(text)).toBe(contains);
  }
});

function casesIn(all: string, letter: string): string[] {
  return all.match(new RegExp(RegExp.escape(letter), 'giu')) ?? [];
}

test('a database that is not in UTF-8 is not migrated', async () => {
  await using created = await createWith(sql`ENCODING 'LATIN1' LOCALE 'C'`);
  await expect(migrateDatabase(created.url)).rejects.toThrow(
    'The database has the encoding LATIN1: Weir needs UTF8. Set DATABASE_URL to another one.',
  );
});

async function createWith(locale: SQL): Promise<{ url: string; database: Database } & AsyncDisposable> {
  const resources = new AsyncDisposableStack();
  const server = new URL(inject('templateDatabaseUrl'));
  const open = (name: string) => {
    server.pathname = `/${name}`;
    const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 30_000 };
    return openDatabase(resources.use(openPostgres(server.href, options)));
  };
  const maintenance = open('postgres');
  const name = `test_${process.pid}_folded`;
  await maintenance.execute(sql`CREATE DATABASE ${sql.identifier(name)} TEMPLATE template0 ${locale}`);
  resources.defer(async () => {
    await maintenance.execute(sql`DROP DATABASE ${sql.identifier(name)} WITH (FORCE)`);
  });
  const database = open(name);
  return { url: server.href, database, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
