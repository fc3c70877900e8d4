import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { expect, test } from 'vitest';
import { planStatements, splitStatements } from './statements.ts';

test('a text is split into statements, without comments; bodies and quotes stay whole', () => {
  const text = `-- The first; a comment.
CREATE TABLE a (id uuid, note text DEFAULT ';' -- why; because
);
DO $$ BEGIN PERFORM 1; PERFORM 2; END $$;
SELECT 1 - 2`;
  expect(splitStatements(text)).toEqual([
    "CREATE TABLE a (id uuid, note text DEFAULT ';' \n)",
    'DO $$ BEGIN PERFORM 1; PERFORM 2; END $$',
    'SELECT 1 - 2',
  ]);
});

test('the locks of each form are known; a form that would stop services is refused', () => {
  const locksOf = (...statements: string[]) => planStatements(statements).map(({ locks }) => locks);
  expect(
    locksOf(
      'CREATE TABLE fresh (id uuid)',
      'CREATE INDEX fresh_by_id ON fresh (id)',
      'ALTER TABLE fresh ALTER COLUMN id SET STATISTICS 0',
      'CREATE INDEX CONCURRENTLY IF NOT EXISTS events_by_x ON events (x)',
      'ALTER TABLE events ADD COLUMN x text',
    ),
  ).toEqual([
    'nothing: the table is new',
    'nothing: the table is new',
    'nothing: the table is new',
    'nothing: reads and writes go on',
    'reads and writes of events, for milliseconds',
  ]);
  for (const statement of [
    'CREATE INDEX events_by_x ON events (x)',
    'ALTER TABLE events ALTER COLUMN x TYPE bigint',
    'ALTER TABLE events ADD COLUMN x uuid REFERENCES spaces',
    'UPDATE events SET x = 1',
    'DROP TABLE events',
  ])
    expect(() => planStatements([statement])).toThrow('It is not known what this statement locks');
});

test('every migration after the first can run while services run', () => {
  const migrationsFolder = fileURLToPath(new URL('../db/migrations', import.meta.url));
  const [, ...later] = readMigrationFiles({ migrationsFolder });
  expect(later.length).toBeGreaterThan(0);
  for (const { sql } of later)
    expect(planStatements(splitStatements(sql.join(''))).length).toBeGreaterThan(0);
});
