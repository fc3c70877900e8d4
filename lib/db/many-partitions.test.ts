import { randomUUIDv7 } from 'node:crypto';
import { expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { readEventPage } from '../read/event-page.ts';
import { expireData } from '../retention/expire.ts';
import { RetentionClock } from '../retention/retention-clock.ts';
import { insertParts } from '../write/store.ts';
import { openPostgres } from './connect.ts';
import { openDatabase } from './database.ts';
import { events } from './schema.ts';
import { boundOf, dateOf, weekOf } from './weeks.ts';

/** Five years. */
const weeks = 260;

/** More concurrent lists than the connections of all services of one machine. */
const readers = 40;

test('with five years of partitions, many lists, a store and retention get enough locks at the same time', async () => {
  await using backing = await createDatabase();
  const open = (connectionsMax: number) =>
    openPostgres(backing.url, { applicationName: 'test', connectionsMax, statementTimeoutMs: 0 });
  await using sql = open(2);
  const nowMs = Date.now();
  for (const table of ['events', 'segments']) {
    const partitions = Array.from({ length: weeks }, (_, i) => {
      const { fromMs, toMs } = weekOf(nowMs, i - weeks);
      return `CREATE TABLE ${table}_${dateOf(fromMs)} PARTITION OF ${table} FOR VALUES FROM ('${boundOf(fromMs)}') TO ('${boundOf(toMs)}')`;
    });
    for (let i = 0; i < weeks; i += 20) await sql.unsafe(partitions.slice(i, i + 20).join(';'));
  }
  const database = openDatabase(sql);
  const spaceId = randomUUIDv7();
  await insertParts(database, [partOf(spaceId, someEvents(3))]);

  await using stack = new AsyncDisposableStack();
  const columns = { id: events.id, startTimeMs: events.startTimeMs };
  const query = { filter: {}, after: undefined, limit: 10 };
  for (let reader = 0; reader < readers; reader++) {
    const session = stack.use(open(1));
    // Its locks are held until the end of the transaction.
    await session`BEGIN`;
    await readEventPage(openDatabase(session), spaceId, columns, query);
  }
  expect(await insertParts(database, [partOf(spaceId, someEvents(3))])).toBe(3);
  await using single = open(1);
  const expired = await expireData(openDatabase(single), {
    retentionDaysMax: undefined,
    nowMs,
    clock: new RetentionClock(),
  });
  expect(expired).toMatchObject({ dropped: [], locked: [] });
});
