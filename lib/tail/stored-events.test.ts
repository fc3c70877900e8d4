import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { openPostgres, type Sql } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { events, segmentAdditions } from '../db/schema.ts';
import type { Part } from '../queue/group.ts';
import type { EventFilter } from '../read/event-filter.ts';
import { slicePart } from '../write/slice.ts';
import { storeParameters, storeStatement } from '../write/statement.ts';
import { insertParts } from '../write/store.ts';
import { deleteOldAdditions } from './additions.ts';
import { formatPosition, parsePosition, type TailPosition } from './position.ts';
import { readEdge, readLag } from './stored-entries.ts';
import { readStoredPage } from './stored-events.ts';

const resources = new AsyncDisposableStack();
let sql: Sql;
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 8, statementTimeoutMs: 30_000 };
  sql = resources.use(openPostgres(url, options));
  database = openDatabase(sql);
});
afterAll(() => resources.disposeAsync());

const columns = { id: events.id, startTimeMs: events.startTimeMs, name: events.name };

/** Waits until the transactions that run now have ended, in any database. */
async function untilFinal(): Promise<void> {
  const [row] = await sql<{ xmax: string }[]>`SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xmax`;
  await until(async () => BigInt((await readEdge(database)).xid) >= BigInt(row?.xmax ?? 0));
}

/** Everything that is stored now. */
async function readAll(spaceId: string, from: TailPosition, filters?: readonly EventFilter[]) {
  await untilFinal();
  return readUpToEdge(spaceId, from, filters);
}

/** Everything after a position up to the edge, page by page, with the position as a client would send it back. */
async function readUpToEdge(spaceId: string, from: TailPosition, filters: readonly EventFilter[] = [{}]) {
  const ids: string[] = [];
  const matches: string[] = [];
  for (let after = from; ; ) {
    const page = await readStoredPage(database, spaceId, { columns, after, filters });
    ids.push(...page.events.map(({ row }) => row.id));
    matches.push(...page.events.map((event) => event.matches));
    const parsed = parsePosition(formatPosition(page.end));
    if (parsed === undefined) throw new Error('a position does not survive its text');
    after = parsed;
    if (page.isComplete) return { ids, matches, end: after, edge: page.edge };
  }
}

const idsOf = (list: readonly Record<string, unknown>[]) => list.map(({ id }) => String(id));

/**
 * Begins a transaction, which gets its id now, and stores parts in it when `commit` is called. Statements that store events of
 * one space wait for each other at its counters, so this is how an older transaction commits later.
 */
async function holdOpen(parts: readonly Part[]): Promise<{ commit(): Promise<void> }> {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const done = sql.begin(async (transaction) => {
    await transaction`SELECT pg_current_xact_id()`;
    begun.resolve();
    await released.promise;
    await transaction.unsafe(storeStatement, storeParameters(parts));
  });
  await Promise.race([begun.promise, done]);
  return {
    async commit() {
      released.resolve();
      await done;
    },
  };
}

test('events come in the order in which they were stored, and each page goes on where the last one ended', async () => {
  const spaceId = randomUUIDv7();
  const start = await readEdge(database);
  const lists = [500, 500, 400, 2, 500, 300].map(someEvents);
  for (const list of lists) await insertParts(database, [partOf(spaceId, list)]);
  await insertParts(database, [partOf(randomUUIDv7(), someEvents(3))]);
  const first = await readAll(spaceId, start);
  expect(first.ids).toEqual(lists.flatMap(idsOf));
  const more = someEvents(2);
  await insertParts(database, [partOf(spaceId, more)]);
  expect((await readAll(spaceId, first.end)).ids).toEqual(idsOf(more));
});

test('a transaction of another database holds nothing back', async () => {
  const spaceId = randomUUIDv7();
  const start = await readEdge(database);
  await using other = await createDatabase();
  await using otherSql = openPostgres(other.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 30_000,
  });
  await otherSql.begin(async (transaction) => {
    await transaction`SELECT pg_current_xact_id()`;
    const list = someEvents(3);
    await insertParts(database, [partOf(spaceId, list)]);
    // An earlier transaction of this database, autovacuum's for instance, may still be running.
    await until(async () => (await readUpToEdge(spaceId, start)).ids.length > 0);
    expect((await readUpToEdge(spaceId, start)).ids).toEqual(idsOf(list));
  });
});

test('a transaction with more segments than one page lists is read whole, from any position in it', async () => {
  const spaceId = randomUUIDv7();
  const start = await readEdge(database);
  const list = someEvents(1_300);
  await insertParts(
    database,
    list.map((event) => partOf(spaceId, [event])),
  );
  const { ids } = await readAll(spaceId, start);
  expect(ids.toSorted()).toEqual(idsOf(list).toSorted());
  await untilFinal();
  const page = await readStoredPage(database, spaceId, { columns, after: start, filters: [{}] });
  const at = page.events[123];
  expect((await readAll(spaceId, at?.position ?? start)).ids).toEqual(ids.slice(124));
});

test('a commit that comes late is not skipped, and what follows it waits', async () => {
  const spaceId = randomUUIDv7();
  const start = await readEdge(database);
  const [late, early] = [someEvents(2), someEvents(2)];
  const open = await holdOpen([partOf(spaceId, late)]);
  await insertParts(database, [partOf(spaceId, early)]);
  const before = await readUpToEdge(spaceId, start);
  expect(before.ids).toEqual([]);
  expect(before.edge.isHeldBack).toBe(true);
  await open.commit();
  const after = await readAll(spaceId, before.end);
  expect(after.ids).toEqual(idsOf([...late, ...early]));
  expect(after.edge.isHeldBack).toBe(false);
});

test('pieces of one segment appear once each, whichever transaction commits first, also when they are redelivered', async () => {
  const spaceId = randomUUIDv7();
  const start = await readEdge(database);
  const list = someEvents(9);
  const whole = partOf(spaceId, list);
  const [a, b, c] = [slicePart(whole, 0, 3), slicePart(whole, 3, 6), slicePart(whole, 6, 9)];
  const other = someEvents(1);
  const open = await holdOpen([partOf(spaceId, other)]);
  await insertParts(database, [b]);
  await open.commit();
  const first = await readAll(spaceId, start);
  expect(first.ids).toEqual(idsOf([...other, ...list.slice(3, 6)]));
  const held = await holdOpen([a]);
  await insertParts(database, [b]);
  await insertParts(database, [c]);
  await held.commit();
  await insertParts(database, [a, b, c]);
  expect((await readAll(spaceId, first.end)).ids).toEqual(idsOf([...list.slice(0, 3), ...list.slice(6)]));
  // From the beginning, and from within the segment: the same events.
  expect((await readAll(spaceId, start)).ids.slice(1).toSorted()).toEqual(idsOf(list).toSorted());
  await untilFinal();
  const page = await readStoredPage(database, spaceId, { columns, after: start, filters: [{}] });
  const third = page.events[2]?.position ?? start;
  expect((await readAll(spaceId, third)).ids).toEqual([
    ...idsOf(list.slice(5, 6)),
    ...idsOf(list.slice(0, 3)),
    ...idsOf(list.slice(6)),
  ]);
});

test('an event that was stored weeks after its receipt appears, and one that was deleted does not', async () => {
  const spaceId = randomUUIDv7();
  const start = await readEdge(database);
  const [old, random, gone] = [someEvents(2), someEvents(2), someEvents(2)];
  await insertParts(database, [partOf(spaceId, old, { segmentId: '019a0000-0000-7000-8000-000000000001' })]);
  await insertParts(database, [
    partOf(spaceId, random, { segmentId: '00000000-0000-4000-8000-000000000001' }),
    partOf(spaceId, gone),
  ]);
  for (const id of idsOf(gone)) await database.delete(events).where(eq(events.id, id));
  expect((await readAll(spaceId, start)).ids).toEqual([...idsOf(old), ...idsOf(random)]);
  const noted = await database.select().from(segmentAdditions).where(eq(segmentAdditions.spaceId, spaceId));
  expect(noted.map(({ indexes }) => indexes.toSorted())).toEqual([
    [0, 1],
    [0, 1],
  ]);
});

test('additions are deleted when no tail can resume from them', async () => {
  const spaceId = randomUUIDv7();
  const id = '019a0000-0000-7000-8000-000000000002';
  const late = id.replace('2', '3');
  await insertParts(database, [partOf(spaceId, someEvents(1), { segmentId: id })]);
  await insertParts(database, [partOf(spaceId, someEvents(2), { segmentId: late })]);
  await sql`UPDATE segment_additions SET stored_at = now() - interval '9 days' WHERE space_id = ${spaceId} AND indexes = '{0}'`;
  await deleteOldAdditions(database);
  const left = await database.select().from(segmentAdditions).where(eq(segmentAdditions.spaceId, spaceId));
  expect(left.map(({ indexes }) => indexes)).toEqual([[0, 1]]);
});

test('each event says which filters it matches, and one that matches none is left out', async () => {
  const spaceId = randomUUIDv7();
  const start = await readEdge(database);
  const model = (name: string) => ({ properties: { llm: { model: name } } });
  const list = [model('a'), model('b'), model('c')].map((changes) => llmEvent(changes));
  await insertParts(database, [partOf(spaceId, list)]);
  const filters = [{ name: 'a' }, { text: 'nowhere' }, { name: 'c' }, { name: 'c', type: 'llm' as const }];
  const { ids, matches } = await readAll(spaceId, start, filters);
  expect(ids).toEqual([list[0]?.id, list[2]?.id]);
  expect(matches).toEqual(['1000', '0011']);
  const many = Array.from({ length: 250 }, (_, i) => (i === 249 ? {} : { name: `absent ${i}` }));
  const wide = await readAll(spaceId, start, many);
  expect(wide.matches).toEqual(Array(3).fill(`${'0'.repeat(249)}1`));
});

test('the lag counts what was stored after a position', async () => {
  const spaceId = randomUUIDv7();
  const start = await readEdge(database);
  expect(await readLag(database, spaceId, start)).toMatchObject({ events: 0, isAtLeast: false });
  await insertParts(database, [partOf(spaceId, someEvents(5))]);
  await insertParts(database, [partOf(spaceId, someEvents(6))]);
  await untilFinal();
  const lag = await readLag(database, spaceId, start);
  expect(lag).toMatchObject({ events: 11, isAtLeast: false });
  expect((await readAll(spaceId, lag.edge)).ids).toEqual([]);
});

test('a tail beside concurrent statements, rollbacks and transactions that stay open has every event once', async () => {
  const spaceId = randomUUIDv7();
  let after = await readEdge(database);
  const seen: string[] = [];
  const sent: string[] = [];
  let isWriting = true;
  const write = async (lane: number) => {
    for (let i = 0; i < 40; i++) {
      const list = someEvents(1 + ((i * 7 + lane) % 5));
      const whole = partOf(spaceId, list);
      const pieces = list.length > 2 ? [slicePart(whole, 2, list.length), slicePart(whole, 0, 2)] : [whole];
      for (const piece of pieces) {
        if ((i + lane) % 4 !== 0) {
          await insertParts(database, [piece]);
          continue;
        }
        const open = await holdOpen([piece]);
        await sleep(lane * 3);
        await open.commit();
      }
      if (i % 9 === 0)
        await sql.begin((transaction) => transaction`SELECT pg_current_xact_id(), 1 / 0`).catch(() => {});
      sent.push(...idsOf(list));
    }
  };
  const writing = Promise.all([1, 2, 3].map(write)).then(() => {
    isWriting = false;
  });
  for (let isLast = false; !isLast; ) {
    isLast = !isWriting;
    if (isLast) await untilFinal();
    const page = await readUpToEdge(spaceId, after);
    seen.push(...page.ids);
    after = page.end;
  }
  await writing;
  expect(seen.toSorted()).toEqual(sent.toSorted());
});
