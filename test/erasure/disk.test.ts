import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { llmEvent, someEvents, toolEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { mediaOf } from '../../harness/fixtures/media.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { eraseEvents } from '../../operations/erasure/erase.ts';
import { writersWaitMs } from '../../operations/erasure/limits.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { storeMedia } from '../../store/media/store-media.ts';
import { findHolder, readNextTransaction } from '../../store/retention/older-snapshots.ts';
import { quarantineEvent } from '../../store/write/quarantine.ts';
import { slicePart } from '../../store/write/slice.ts';
import { startErase } from '../support/cli/erase-process.ts';
import { createDatabase, startNats } from '../support/test-servers.ts';
import { until } from '../support/wait.ts';

/** Words that occur nowhere else, used as user, thread, preview, attribute, error and media of the events. */
const words = ['user', 'prompt', 'answer', 'attribute', 'error', 'media'].map((word) => `xiphoid-${word}`);

/** The first bytes of a zstd frame. */
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

function goneEvent(i: number) {
  const long = 'xiphoid-long '.repeat(i % 5 === 0 ? 200 : 1);
  const make = i % 2 === 0 ? llmEvent : toolEvent;
  const properties =
    i % 2 === 0
      ? {
          llm: {
            model: 'm',
            input: { prompt: `xiphoid-prompt ${i}` },
            output: { response: `xiphoid-answer ${long}` },
          },
        }
      : { tool: { name: 'tool', input: `xiphoid-prompt ${i}`, output: `xiphoid-answer ${long}` } };
  return make({
    context: { userId: 'xiphoid-user', threadId: `xiphoid-thread ${i % 7}` },
    additionalProperties: { word: 'xiphoid-attribute', long },
    status: { state: 'error', error: { code: 'xiphoid-error', message: `xiphoid-error ${i}` } },
    properties,
  });
}

test('after VACUUM and CHECKPOINT no file of the database contains a word of an erased event', async () => {
  await using backing = await createDatabase();
  const options = { applicationName: 'test', statementTimeoutMs: 0 };
  await using sql = openPostgres(backing.url, { ...options, connectionsMax: 1 });
  await using other = openPostgres(backing.url, { ...options, connectionsMax: 1 });
  const database = openDatabase(sql);
  await using server = await startNats();
  await using nats = await connectQueue(server.url, 'test');
  const { id: spaceId } = await createSpace(database, 'test');
  const events = await storeGone(database, spaceId);
  await sql`VACUUM (ANALYZE)`;
  await sql`ANALYZE events`;
  await sql`CHECKPOINT`;
  const directory = await databaseDirectory(sql);
  // Checks that the search finds words that are there.
  const before = searchFiles(directory);
  expect(before.words).toEqual(new Set(words));
  expect(before.frames).toBeGreaterThanOrEqual(120);

  const subject = { kind: 'user', value: 'xiphoid-user' } as const;
  // VACUUM FULL copies deleted rows while another snapshot can see them.
  // Sessions of Weir end after 15 s idle in a transaction. This one stands for a session of another program.
  await other`SET idle_in_transaction_session_timeout = 0`;
  await other`BEGIN ISOLATION LEVEL REPEATABLE READ`;
  await other`SELECT count(*) FROM spaces`;
  const { erased, notReached } = await eraseEvents({ database, connection: nats }, spaceId, { subject });
  expect(erased).toMatchObject({ events, quarantineEvents: 1, quarantineDeleted: 1, media: 60 });
  const whole = ['media', 'media_uses', 'quarantine', 'pg_statistic'];
  expect(notReached).toEqual(whole.map((table) => expect.stringMatching(`^${table}: not written`)));
  await other`COMMIT`;
  // It also does for a transaction that has written, and has no snapshot at the moment, in any database of
  // the server.
  await using elsewhere = openPostgres(inServer(backing.url), { ...options, connectionsMax: 1 });
  for (const writer of [other, elsewhere]) {
    await writer`BEGIN`;
    await writer`SELECT pg_current_xact_id()`;
    await sql`SELECT pg_current_xact_id()`;
    const next = await readNextTransaction(database);
    expect(await findHolder(database, next, { isCatalog: true })).toBe('writer');
    await writer`COMMIT`;
    // Tests in other databases of the server write, too.
    await until(async () => (await findHolder(database, next, { isCatalog: true })) === 'nothing', 60_000);
  }
  const again = await eraseEvents({ database, connection: nats }, spaceId, { subject });
  expect(again).toMatchObject({ notReached: [], rewrittenTables: whole });
  await sql`VACUUM`;
  await sql`CHECKPOINT`;
  expect(searchFiles(directory)).toEqual({ words: new Set(), frames: 0 });
}, 180_000);

test('no file contains a word when nothing is left: the planner has no samples of tables without rows', async () => {
  await using backing = await createDatabase();
  await using sql = openPostgres(backing.url, {
    applicationName: 'test',
    statementTimeoutMs: 0,
    connectionsMax: 1,
  });
  const database = openDatabase(sql);
  await using server = await startNats();
  await using nats = await connectQueue(server.url, 'test');
  const { id: spaceId } = await createSpace(database, 'test');
  await storeGone(database, spaceId, 0);
  await sql`VACUUM (ANALYZE)`;
  await sql`ANALYZE events`;
  await sql`CHECKPOINT`;
  const directory = await databaseDirectory(sql);
  expect(searchFiles(directory).words).toEqual(new Set(words));
  const subject = { kind: 'user', value: 'xiphoid-user' } as const;
  expect((await eraseEvents({ database, connection: nats }, spaceId, { subject })).notReached).toEqual([]);
  await sql`VACUUM`;
  await sql`CHECKPOINT`;
  expect(searchFiles(directory)).toEqual({ words: new Set(), frames: 0 });
}, 180_000);

test('an erasure killed while it rewrites files resumes when run again, and no file contains a word', async () => {
  await using backing = await createDatabase();
  const options = { applicationName: 'test', statementTimeoutMs: 0 };
  await using sql = openPostgres(backing.url, { ...options, connectionsMax: 1 });
  await using reader = openPostgres(backing.url, { ...options, connectionsMax: 1 });
  // Its locks must outlast the start of a command on a busy machine: sessions of Weir end after 15 s idle in
  // a transaction.
  await reader`SET idle_in_transaction_session_timeout = 0`;
  const database = openDatabase(sql);
  await using server = await startNats();
  await using nats = await connectQueue(server.url, 'test');
  const { id: spaceId } = await createSpace(database, 'test');
  const events = await storeGone(database, spaceId);
  const directory = await databaseDirectory(sql);
  const erasing = async () => {
    const [row] = await sql<{ pid: number; isCopied: boolean; isVacuum: boolean }[]>`
      SELECT pid, wait_event = 'PgSleep' AS "isCopied", query LIKE 'VACUUM (FULL%pg_statistic%' AS "isVacuum"
      FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'weir-cli-erase'`;
    return row;
  };
  const variables = { DATABASE_URL: backing.url, NATS_URL: server.url };
  const killWhen = async (lock: string, isReached: () => Promise<boolean | undefined>) => {
    await reader`BEGIN`;
    await reader.unsafe(`LOCK TABLE ${lock} IN ACCESS SHARE MODE`);
    const erase = startErase(variables, ['--space', spaceId, '--user', 'xiphoid-user']);
    // The command waits for transactions of other databases of the server, those of other tests.
    await until(async () => (await isReached()) === true, writersWaitMs + 30_000);
    erase.kill();
    expect(await erase.exited).toBeNull();
  };
  const untilGone = () => until(async () => (await erasing()) === undefined, 60_000);

  // First kill: the copy of a week is complete and waits to be swapped in. The server process rolls it back.
  await killWhen('events', async () => (await erasing())?.isCopied);
  await sql`SELECT pg_terminate_backend(${(await erasing())?.pid ?? 0})`;
  await untilGone();
  await reader`COMMIT`;
  // Second kill: the server swaps the copy in after the command was killed, so the command has not recorded
  // it.
  await killWhen('events', async () => (await erasing())?.isCopied);
  await reader`COMMIT`;
  await untilGone();
  // Third kill: during the rewrite of the statistics, which comes last.
  await killWhen('pg_statistic', async () => (await erasing())?.isVacuum);
  await reader`COMMIT`;
  await untilGone();

  const subject = { kind: 'user', value: 'xiphoid-user' } as const;
  const { erased, notReached, rewrittenTables } = await eraseEvents({ database, connection: nats }, spaceId, {
    subject,
  });
  expect(erased).toMatchObject({ events, quarantineEvents: 1 });
  expect(notReached).toEqual([]);
  expect(rewrittenTables).toContain('pg_statistic');
  const copies = await sql`SELECT tablename FROM pg_tables WHERE tablename LIKE '%copy'`;
  expect(copies).toEqual([]);
  await sql`VACUUM`;
  await sql`CHECKPOINT`;
  expect(searchFiles(directory)).toEqual({ words: new Set(), frames: 0 });
}, 300_000);

/** Another database of the same server. */
function inServer(url: string): string {
  const other = new URL(url);
  other.pathname = '/postgres';
  return other.href;
}

/**
 * Stores events of the user among others, also in quarantine.
 * @returns the number of them that have a row.
 */
async function storeGone(database: Database, spaceId: string, others = 2): Promise<number> {
  let events = 0;
  for (let batch = 0; batch < 60; batch++) {
    const own = Array.from({ length: 1 + (batch % 20) }, (_, i) => goneEvent(batch + i));
    // Also single events: their segments are so small that zstd stores them uncompressed.
    const parts = [
      partOf(spaceId, [...own, ...someEvents(batch % (1 + others))]),
      partOf(spaceId, [goneEvent(batch)]),
    ];
    await insertParts(database, parts);
    const use = mediaOf({ id: `media ${batch}`, eventId: String(own[0]?.id) });
    const data = Buffer.from('xiphoid-media '.repeat(1 + 100 * (batch % 20)));
    await storeMedia(database, spaceId, [{ receivedAtMs: BigInt(Date.now()), media: { ...use, data } }]);
    events += own.length + 1;
  }
  const refused = partOf(spaceId, [goneEvent(2), ...someEvents(1)]);
  await quarantineEvent(database, slicePart(refused, 0, 1), { sqlstate: '22000', message: 'xiphoid-error' });
  return events;
}

async function databaseDirectory(sql: ReturnType<typeof openPostgres>): Promise<string> {
  const [row] = await sql<{ file: string; oid: string }[]>`
    SELECT current_setting('data_directory') AS file, oid::text FROM pg_database WHERE datname = current_database()`;
  const dataDir = row?.file ?? '';
  expect(dataDir).toMatch(/\/weir-test-postgres-\w+\/postgres$/);
  return join(dataDir, 'base', row?.oid ?? '');
}

/** The words found in all files, and the number of compressed frames that contain one. */
function searchFiles(directory: string): { words: Set<string>; frames: number } {
  const found = { words: new Set<string>(), frames: 0 };
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    if (!statSync(file).isFile()) continue;
    const bytes = readFileSync(file);
    for (const word of words) if (bytes.includes(word)) found.words.add(word);
    for (let at = bytes.indexOf(zstdMagic); at !== -1; at = bytes.indexOf(zstdMagic, at + 1)) {
      if (decompressed(bytes.subarray(at)).includes('xiphoid')) found.frames += 1;
    }
  }
  return found;
}

/** Decompresses as much of a frame as the page contains. */
function decompressed(bytes: Buffer): Buffer {
  for (const length of [2_000, 8_000]) {
    try {
      return zstdDecompressSync(bytes.subarray(0, length));
    } catch {
      // The bytes after the frame are not a frame.
    }
  }
  return bytes.subarray(0, 2_000);
}
