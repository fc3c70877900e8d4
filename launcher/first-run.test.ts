import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPostgres } from '../store/db/connect.ts';
import { createDatabase } from '../test/support/test-servers.ts';
import { ensureFirstAccess } from './first-run.ts';

const pepper = 'a pepper of sixteen characters';
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'weir-first-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const ensureIn = (databaseUrl: string) =>
  ensureFirstAccess({ file: join(directory, 'first-run.json'), databaseUrl, pepper });

test('a second start reuses the space, key and owner of the first', async () => {
  await using database = await createDatabase();
  const first = await ensureIn(database.url);
  expect(first).toMatchObject({ email: 'owner@weir.local', apiKey: expect.stringMatching(/^weir_/) });
  expect(await ensureIn(database.url)).toEqual(first);
});

test('a revoked key is replaced in the same space', async () => {
  await using database = await createDatabase();
  const first = await ensureIn(database.url);
  await using sql = openPostgres(database.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 5_000,
  });
  await sql`UPDATE api_keys SET revoked_at = now()`;
  const next = await ensureIn(database.url);
  expect(next).toEqual({ ...first, apiKey: expect.not.stringMatching(first.apiKey) });
});

test('without its file, as on a new machine, a start uses the space of a restored database', async () => {
  await using database = await createDatabase();
  const first = await ensureIn(database.url);
  rmSync(join(directory, 'first-run.json'));
  const next = await ensureIn(database.url);
  expect(next).toMatchObject({ spaceId: first.spaceId, email: first.email });
  expect(await ensureIn(database.url)).toEqual(next);
});

test('another database gets a new space and key', async () => {
  await using database = await createDatabase();
  await using other = await createDatabase();
  const first = await ensureIn(database.url);
  const next = await ensureIn(other.url);
  expect(next.spaceId).not.toBe(first.spaceId);
  expect(next.apiKey).not.toBe(first.apiKey);
  expect(await ensureIn(other.url)).toEqual(next);
});
