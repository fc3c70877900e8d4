import { randomUUIDv7 } from 'node:crypto';
import { sql as fragment } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { walkValues } from '../read/activity/activity-walk.ts';
import { isEventStored } from '../read/event-existence.ts';
import type { EventFilter } from '../read/event-filter.ts';
import { readEventPage } from '../read/event-page.ts';
import { sampleEvents } from '../read/event-samples.ts';
import { expireData } from '../retention/expire.ts';
import { RetentionClock } from '../retention/retention-clock.ts';
import { readSegment } from '../segments/read.ts';
import { firstPosition } from '../tail/position.ts';
import { readStoredPage } from '../tail/stored-events.ts';
import { openPostgres } from './connect.ts';
import { type Database, openDatabase } from './database.ts';
import { events } from './schema.ts';
import { boundOf, dateOf, weekOf } from './weeks.ts';

/** Five years. */
const weeks = 260;

/** More concurrent lists than the connections of all services of one machine. */
const readers = 40;

const nowMs = Date.now();
const spaceId = randomUUIDv7();
const part = partOf(spaceId, someEvents(3));
const columns = { id: events.id, startTimeMs: events.startTimeMs };
const list = (database: Database, filter: EventFilter = {}) =>
  readEventPage(database, spaceId, { columns, filter, after: undefined, limit: 10 });

const resources = new AsyncDisposableStack();
let url: string;
beforeAll(async () => {
  ({ url } = resources.use(await createDatabase()));
  await using sql = open(2);
  for (const table of ['events', 'segments']) {
    const partitions = Array.from({ length: weeks }, (_, i) => {
      const { fromMs, toMs } = weekOf(nowMs, i - weeks);
      return `CREATE TABLE ${table}_${dateOf(fromMs)} PARTITION OF ${table} FOR VALUES FROM ('${boundOf(fromMs)}') TO ('${boundOf(toMs)}')`;
    });
    for (let i = 0; i < weeks; i += 20) await sql.unsafe(partitions.slice(i, i + 20).join(';'));
  }
  const database = openDatabase(sql);
  await insertParts(database, [part]);
  // Tells the planner of millions of events in this week: then a tenth of them looks more expensive than a
  // page of a list.
  await sql`SELECT pg_restore_relation_stats('schemaname', 'public', 'relname', ${`events_${dateOf(weekOf(nowMs).fromMs)}`}::text,
    'relpages', 1::integer, 'reltuples', 5000000::real)`;
});
afterAll(() => resources.disposeAsync());

function open(connectionsMax: number) {
  return openPostgres(url, { applicationName: 'test', connectionsMax, statementTimeoutMs: 0 });
}

test('with five years of partitions, many lists, a store and retention get enough locks at the same time', async () => {
  await using stack = new AsyncDisposableStack();
  for (let reader = 0; reader < readers; reader++) {
    const session = stack.use(open(1));
    // Its locks are held until the end of the transaction.
    await session`BEGIN`;
    await list(openDatabase(session));
  }
  await using single = open(1);
  expect(await insertParts(openDatabase(single), [partOf(spaceId, someEvents(3))])).toBe(3);
  const expired = await expireData(openDatabase(single), {
    retentionDaysMax: undefined,
    nowMs,
    clock: new RetentionClock(),
  });
  expect(expired).toMatchObject({ dropped: [], locked: [] });
});

/**
 * Postgres makes a generic plan after five executions, if it does not look more expensive than the plans for
 * the values.
 */
const executionsToGeneric = 6;

const span = { bucket: 0, fromMs: 0, toMs: nowMs };
const walk = {
  column: 'threadId',
  range: {},
  match: undefined,
  after: undefined,
  seen: new Set<string>(),
} as const;
const { segmentId } = part;

test.each<[string, number, (database: Database) => Promise<unknown>]>([
  ['a list', 1, list],
  ['a list of a range', 1, (database) => list(database, { from: nowMs - 1_000, to: nowMs })],
  ['the walk of a filter', 1, (database) => list(database, { type: 'llm' })],
  ['an event by its id', 1, (database) => isEventStored(database, spaceId, segmentId)],
  [
    'the events of a live feed',
    1,
    (database) => readStoredPage(database, spaceId, { columns, after: firstPosition }),
  ],
  [
    'the samples of a chart',
    1,
    (database) => sampleEvents(database, spaceId, { filter: {}, spans: [span], eventsMax: 10 }),
  ],
  ['the threads', 1, (database) => walkValues(database, spaceId, { ...walk, valuesMax: 10, eventsMax: 100 })],
  ['a segment', 0, (database) => readSegment(database, spaceId, segmentId)],
  ['a store', 0, (database) => insertParts(database, [partOf(spaceId, someEvents(1))])],
])('%s is planned once for all partitions', async (_name, indexes, run) => {
  await using session = open(1);
  const database = openDatabase(session);
  for (let execution = 0; execution < executionsToGeneric; execution++) await run(database);
  await session`BEGIN`;
  await run(database);
  // Planning locks all indexes of the partitions, execution only the used ones.
  const [row] = await database.execute<{ locks: number }>(fragment`
    SELECT count(*)::integer AS locks FROM pg_locks WHERE pid = pg_backend_pid() AND relation IS NOT NULL`);
  expect(row?.locks).toBeLessThan((1 + indexes) * weeks + 100);
});
