import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { asc, eq, getTableName } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { startOnFreePorts } from '../../launcher/provision/ports.ts';
import { startPostgres } from '../../launcher/provision/postgres/postgres.ts';
import type { Part } from '../../platform/queue/group.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres, type Sql } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { commitCounters, erasures, eventIds, events, segments, spaceCommits } from '../db/schema.ts';
import { migrateDatabase } from '../migrate/migrate.ts';
import { foldDelays } from '../store-delays/fold-delays.ts';
import { slicePart } from '../write/slice.ts';
import { storeParameters, storeStatement } from '../write/statement.ts';
import { storeParts } from '../write/store.ts';
import { commitsPerSpaceMax, segmentsPerRead } from './limits.ts';
import {
  comparePositions,
  firstPosition,
  formatPosition,
  lastIndex,
  parsePosition,
  type TailPosition,
} from './position.ts';
import { skipCommitNumbers } from './skip-numbers.ts';
import { deleteOldCommits, isKnownPosition, readEdge, readLag } from './space-commits.ts';
import { readStoredPage } from './stored-events.ts';

const resources = new AsyncDisposableStack();
let sql: Sql;
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 12, statementTimeoutMs: 30_000 };
  sql = resources.use(openPostgres(url, options));
  database = openDatabase(sql);
});
afterAll(() => resources.disposeAsync());

const columns = { id: events.id, startTimeMs: events.startTimeMs, name: events.name };

/**
 * Reads everything after a position, page by page; each position makes the round trip through its text form.
 */
async function readAll(
  spaceId: string,
  start: TailPosition,
  { from = database, ...options }: { from?: Database; rowsMax?: number } = {},
) {
  const ids: string[] = [];
  for (let after = start; ; ) {
    const page = await readStoredPage(from, spaceId, { columns, after, ...options });
    if (page === undefined) throw new Error(`the position ${JSON.stringify(after)} is not known`);
    ids.push(...page.events.map(({ row }) => row.id));
    const parsed = parsePosition(formatPosition(page.end));
    if (parsed === undefined) throw new Error('a formatted position could not be parsed');
    expect(comparePositions(parsed, after)).toBeGreaterThanOrEqual(0);
    after = parsed;
    if (page.isComplete) return { ids, end: after };
  }
}

const idsOf = (list: readonly Record<string, unknown>[]) => list.map(({ id }) => String(id));
const commitsOf = (spaceId: string) =>
  database
    .select()
    .from(spaceCommits)
    .where(eq(spaceCommits.spaceId, spaceId))
    .orderBy(asc(spaceCommits.number));

/** Stores parts in a transaction that stays open until `commit` is called. */
async function holdOpen(parts: readonly Part[]): Promise<{ commit(): Promise<void> }> {
  const stored = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const done = sql.begin(async (transaction) => {
    await transaction.unsafe(storeStatement.text, storeParameters(storeStatement, parts));
    stored.resolve();
    await released.promise;
  });
  await Promise.race([stored.promise, done]);
  return {
    async commit() {
      released.resolve();
      await done;
    },
  };
}

test('events come in storage order, and each page continues where the previous one ended', async () => {
  const spaceId = randomUUIDv7();
  const start = await readEdge(database, spaceId);
  expect(start).toEqual(firstPosition);
  const lists = [500, 500, 400, 2, 500, 300].map(someEvents);
  for (const list of lists) await insertParts(database, [partOf(spaceId, list)]);
  await insertParts(database, [partOf(randomUUIDv7(), someEvents(3))]);
  const first = await readAll(spaceId, start);
  expect(first.ids).toEqual(lists.flatMap(idsOf));
  expect((await readAll(spaceId, start, { rowsMax: 70 })).ids).toEqual(first.ids);
  expect(first.end).toEqual(await readEdge(database, spaceId));
  const more = someEvents(2);
  await insertParts(database, [partOf(spaceId, more)]);
  expect((await readAll(spaceId, first.end)).ids).toEqual(idsOf(more));
});

test('each statement assigns each of its spaces the next number, and none to a space without new events', async () => {
  const [one, two] = [randomUUIDv7(), randomUUIDv7()];
  const parts = [partOf(one, someEvents(2)), partOf(two, someEvents(3)), partOf(one, someEvents(4))];
  await insertParts(database, parts);
  await insertParts(database, parts);
  await insertParts(database, [...parts, partOf(two, someEvents(1))]);
  const ofOne = await commitsOf(one);
  expect(ofOne).toMatchObject([{ number: 1, eventCount: 6 }]);
  expect(ofOne[0]?.segmentIds).toEqual([parts[0]?.segmentId, parts[2]?.segmentId].toSorted());
  expect((await commitsOf(two)).map(({ number, eventCount }) => [number, eventCount])).toEqual([
    [1, 3],
    [2, 1],
  ]);
});

test('a statement with more segments than one page lists is read completely, from any position in it', async () => {
  const spaceId = randomUUIDv7();
  const list = someEvents(2 * segmentsPerRead + 300);
  await insertParts(
    database,
    list.map((event) => partOf(spaceId, [event])),
  );
  const { ids } = await readAll(spaceId, firstPosition);
  expect(ids.toSorted()).toEqual(idsOf(list).toSorted());
  const page = await readStoredPage(database, spaceId, { columns, after: firstPosition });
  const at = page?.events[123];
  expect((await readAll(spaceId, at?.position ?? firstPosition)).ids).toEqual(ids.slice(124));
});

test('a statement waits for the previous one of the same space, and not for other spaces', async () => {
  const [spaceId, other] = [randomUUIDv7(), randomUUIDv7()];
  const [first, second, elsewhere] = [someEvents(2), someEvents(2), someEvents(1)];
  const open = await holdOpen([partOf(spaceId, first)]);
  const later = insertParts(database, [partOf(spaceId, second)]);
  await insertParts(database, [partOf(other, elsewhere)]);
  expect((await readAll(other, firstPosition)).ids).toEqual(idsOf(elsewhere));
  expect((await readAll(spaceId, firstPosition)).ids).toEqual([]);
  await open.commit();
  await later;
  expect((await readAll(spaceId, firstPosition)).ids).toEqual(idsOf([...first, ...second]));
});

test('slices of one part appear once each, in the order of their statements, even when redelivered', async () => {
  const spaceId = randomUUIDv7();
  const list = someEvents(9);
  const whole = partOf(spaceId, list);
  const [a, b, c] = [slicePart(whole, 0, 3), slicePart(whole, 3, 6), slicePart(whole, 6, 9)];
  await insertParts(database, [b]);
  const first = await readAll(spaceId, firstPosition);
  expect(first.ids).toEqual(idsOf(list.slice(3, 6)));
  for (const parts of [[a], [b], [a, b, c], [whole]]) await insertParts(database, parts);
  const rest = idsOf([...list.slice(0, 3), ...list.slice(6)]);
  expect((await readAll(spaceId, first.end)).ids).toEqual(rest);
  expect((await readAll(spaceId, firstPosition, { rowsMax: 4 })).ids).toEqual([...first.ids, ...rest]);
  expect((await commitsOf(spaceId)).map(({ eventCount }) => eventCount)).toEqual([3, 3, 3]);
});

test('an event stored weeks after its receipt appears, and a deleted one does not', async () => {
  const spaceId = randomUUIDv7();
  const [old, random, gone] = [someEvents(2), someEvents(2), someEvents(2)];
  await insertParts(database, [partOf(spaceId, old, { segmentId: '019a0000-0000-7000-8000-000000000001' })]);
  await insertParts(database, [
    partOf(spaceId, random, { segmentId: '00000000-0000-4000-8000-000000000001' }),
    partOf(spaceId, gone),
  ]);
  for (const id of idsOf(gone)) await database.delete(events).where(eq(events.id, id));
  expect((await readAll(spaceId, firstPosition)).ids).toEqual([...idsOf(old), ...idsOf(random)]);
});

test('a position that is too old for the records, or from another history, is unknown', async () => {
  const spaceId = randomUUIDv7();
  for (let i = 0; i < 3; i++) await insertParts(database, [partOf(spaceId, someEvents(2))]);
  const edge = await readEdge(database, spaceId);
  const isKnown = (position: TailPosition) => isKnownPosition(database, spaceId, position);
  expect(await isKnown(firstPosition)).toBe(true);
  expect(await isKnown(edge)).toBe(true);
  expect(await isKnown({ ...edge, number: edge.number + 1 })).toBe(false);
  expect(await isKnown({ ...edge, segmentId: randomUUID() })).toBe(false);
  await sql`UPDATE space_commits SET stored_at = now() - interval '8 days' WHERE space_id = ${spaceId} AND number < 3`;
  await deleteOldCommits(database);
  expect(await isKnown(firstPosition)).toBe(false);
  expect(await readStoredPage(database, spaceId, { columns, after: firstPosition })).toBeUndefined();
  expect(await isKnown(edge)).toBe(true);
});

test('after a restore no commit has a number from before it: a stream is told of a gap, and gets no event twice', async () => {
  const spaceId = randomUUIDv7();
  const [kept, first, second, third] = [1, 2, 3, 4].map(() => partOf(spaceId, someEvents(1)));
  if (!kept || !first || !second || !third) throw new Error('no parts');
  for (const part of [kept, first, second, third]) await insertParts(database, [part]);
  const commits = await commitsOf(spaceId);
  const [before, seen] = [0, 2].map((index): TailPosition => {
    const { number, segmentIds } = commits[index] ?? { number: 0, segmentIds: [] };
    return { number, segmentId: segmentIds[0] ?? '', segmentIndex: lastIndex };
  });
  if (!before || !seen) throw new Error('no commits');
  expect(await isKnownPosition(database, spaceId, seen)).toBe(true);
  // Back to the backup, then the lost parts in another order: the second one is the second again.
  await sql`DELETE FROM event_ids WHERE space_id = ${spaceId} AND id IN (SELECT id FROM events WHERE space_id = ${spaceId} AND segment_id <> ${before.segmentId})`;
  await sql`DELETE FROM events WHERE space_id = ${spaceId} AND segment_id <> ${before.segmentId}`;
  await sql`DELETE FROM segments WHERE space_id = ${spaceId} AND id <> ${before.segmentId}`;
  await sql`DELETE FROM space_commits WHERE space_id = ${spaceId} AND number > ${before.number}`;
  await sql`UPDATE commit_counters SET last_number = ${before.number} WHERE space_id = ${spaceId}`;
  await skipCommitNumbers(database);
  const edge = await readEdge(database, spaceId);
  for (const part of [third, second, first]) await insertParts(database, [part]);
  expect(await isKnownPosition(database, spaceId, seen)).toBe(false);
  // Positions that the backup has stay valid: the lost events come once.
  for (const position of [before, edge]) expect((await readAll(spaceId, position)).ids).toHaveLength(3);
  await foldDelays(database);
  const [folded] = await sql<
    { number: string }[]
  >`SELECT number FROM store_delay_positions WHERE space_id = ${spaceId}`;
  expect(Number(folded?.number)).toBe(edge.number + 3);
});

test('a position stays valid after a logical restore into a cluster whose transaction ids are lower', async () => {
  const spaceId = randomUUIDv7();
  const [seen, unseen, later] = [someEvents(3), someEvents(4), someEvents(5)];
  await insertParts(database, [partOf(spaceId, seen)]);
  const position = await readEdge(database, spaceId);
  await insertParts(database, [partOf(spaceId, unseen)]);
  await sql`DO $$ BEGIN FOR i IN 1..2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$`.simple();

  const directory = mkdtempSync(join(tmpdir(), 'weir-restore-'));
  await using restored = new AsyncDisposableStack();
  restored.defer(() => rmSync(directory, { recursive: true, force: true }));
  const server = restored.use(
    await startOnFreePorts(1, ([port = 0]) =>
      startPostgres({
        dataDir: join(directory, 'data'),
        logFile: join(directory, 'postgres.log'),
        password: 'test',
        port,
      }),
    ),
  );
  const options = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 30_000 };
  const other = restored.use(openPostgres(server.url, options));
  const target = openDatabase(other);
  await migrateDatabase(server.url);
  for (const table of [eventIds, events, segments, commitCounters, spaceCommits].map(getTableName)) {
    const from = sql`COPY (SELECT * FROM ${sql(table)} WHERE space_id = ${sql.unsafe(`'${spaceId}'`)}) TO STDOUT`;
    await pipeline(await from.readable(), await other`COPY ${other(table)} FROM STDIN`.writable());
  }
  const idIn = async (one: Sql) =>
    (await one<{ id: string }[]>`SELECT pg_current_xact_id()::text AS id`)[0]?.id;
  expect(Number(await idIn(other))).toBeLessThan(Number(await idIn(sql)));

  const known = await readAll(spaceId, position, { from: target });
  expect(known.ids).toEqual(idsOf(unseen));
  await insertParts(target, [partOf(spaceId, later)]);
  expect((await readAll(spaceId, known.end, { from: target })).ids).toEqual(idsOf(later));
  // A position newer than the backup is unknown, even after its number has been assigned again.
  await insertParts(database, [partOf(spaceId, someEvents(1))]);
  expect(await isKnownPosition(target, spaceId, await readEdge(database, spaceId))).toBe(false);
  await insertParts(database, [partOf(spaceId, someEvents(1))]);
  expect(await isKnownPosition(target, spaceId, await readEdge(database, spaceId))).toBe(false);
});

test('old records and those beyond the limit are deleted, except the last one of a space and those of an erasure that runs', async () => {
  const spaceId = randomUUIDv7();
  for (let i = 0; i < 4; i++) await insertParts(database, [partOf(spaceId, someEvents(1))]);
  const numbers = async () => (await commitsOf(spaceId)).map(({ number }) => number);
  const later = commitsPerSpaceMax + 2;
  await database.update(commitCounters).set({ lastNumber: later }).where(eq(commitCounters.spaceId, spaceId));
  await sql`UPDATE space_commits SET number = ${later} WHERE space_id = ${spaceId} AND number = 4`;
  await database
    .insert(erasures)
    .values({ spaceId, subject: 'thread', startedAt: new Date(), unwritten: [] });
  await deleteOldCommits(database);
  expect(await numbers()).toEqual([1, 2, 3, later]);
  await database.update(erasures).set({ completedAt: new Date() }).where(eq(erasures.spaceId, spaceId));
  await deleteOldCommits(database);
  expect(await numbers()).toEqual([2, 3, later]);
  await sql`UPDATE space_commits SET stored_at = now() - interval '8 days' WHERE space_id = ${spaceId}`;
  await deleteOldCommits(database);
  expect(await numbers()).toEqual([later]);
});

test('the lag counts what later statements stored', async () => {
  const spaceId = randomUUIDv7();
  expect(await readLag(database, spaceId, firstPosition)).toEqual({ events: 0, isAtLeast: false });
  await insertParts(database, [partOf(spaceId, someEvents(5))]);
  const middle = await readEdge(database, spaceId);
  await insertParts(database, [partOf(spaceId, someEvents(6)), partOf(spaceId, someEvents(1))]);
  expect(await readLag(database, spaceId, firstPosition)).toEqual({ events: 12, isAtLeast: false });
  expect(await readLag(database, spaceId, middle)).toEqual({ events: 7, isAtLeast: false });
});

test('concurrent readers get every event once and in order, whatever the sizes of statements and pages', async () => {
  const spaceIds = [randomUUIDv7(), randomUUIDv7()] as const;
  const sent = new Map<string, string[]>(spaceIds.map((spaceId) => [spaceId, []]));
  let isWriting = true;
  const partsFor = (spaceId: string, count: number): Part[] => {
    const list = someEvents(count);
    sent.get(spaceId)?.push(...idsOf(list));
    const whole = partOf(spaceId, list);
    return count > 4 ? [slicePart(whole, 2, count), slicePart(whole, 0, 2)] : [whole];
  };
  const write = async (lane: number) => {
    for (let i = 0; i < 15; i++) {
      const size = (i + lane) % 9 === 0 ? 450 : 1 + ((i * 7 + lane) % 6);
      // Alternating orders: a statement of several spaces must not lock their counters in the order of its
      // parts.
      const order = lane % 2 === 0 ? spaceIds : spaceIds.toReversed();
      const parts = order.flatMap((spaceId) => partsFor(spaceId, size));
      const statements = (i + lane) % 3 === 0 ? parts.map((part) => [part]) : [parts];
      for (const statement of statements) {
        if ((i + lane) % 5 === 0) {
          const open = await holdOpen(statement);
          await sleep(lane);
          await open.commit();
        } else await storeParts(database, statement);
        if (i % 4 === 0) await storeParts(database, statement);
      }
      if (i % 6 === 0) await rollBack(partOf(spaceIds[0], someEvents(3)));
    }
  };
  const writing = Promise.all([1, 2, 3, 4, 5].map(write)).finally(() => {
    isWriting = false;
  });
  const read = async (spaceId: string, options: { rowsMax?: number }) => {
    const seen: string[] = [];
    let after = firstPosition;
    for (let isLast = false; !isLast; ) {
      isLast = !isWriting;
      const { ids, end } = await readAll(spaceId, after, options);
      seen.push(...ids);
      after = end;
    }
    return seen;
  };
  const reading = spaceIds.flatMap((spaceId) =>
    [{}, { rowsMax: 7 }].map(async (options) => ({ spaceId, seen: await read(spaceId, options) })),
  );
  const readers = await Promise.all(reading);
  await writing;
  for (const { spaceId, seen } of readers) {
    expect(seen.toSorted()).toEqual(sent.get(spaceId)?.toSorted());
    expect(seen).toEqual((await readAll(spaceId, firstPosition)).ids);
  }
});

/** Stores a part in a transaction that fails after it. */
async function rollBack(part: Part): Promise<void> {
  const failing = sql.begin(async (transaction) => {
    await transaction.unsafe(storeStatement.text, storeParameters(storeStatement, [part]));
    await transaction`SELECT 1 / 0`;
  });
  await expect(failing).rejects.toThrow('division by zero');
}
