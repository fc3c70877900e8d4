import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { agedPart } from '../../harness/fixtures/aged-part.ts';
import { migrateToBaseline } from '../../harness/fixtures/baseline/database.ts';
import { baselineParameters, baselineStatement } from '../../harness/fixtures/baseline/statement.ts';
import { someEvents } from '../../harness/fixtures/events.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres } from '../db/connect.ts';
import { openDatabase } from '../db/database.ts';
import { buildInitialIndexes } from '../db/initial-indexes.ts';
import { fillLedger } from '../db/ledger-fill.ts';
import { migrateDatabase } from '../db/migrate.ts';
import { listPartitions } from '../db/partitions.ts';
import { events } from '../db/schema.ts';
import { insertParts } from '../write/store.ts';
import { expireData } from './expire.ts';

test('what was stored before there were partitions expires, in batches, and gives its disk back', async () => {
  await using backing = await createDatabase({ template: 'template1' });
  await using sql = openPostgres(backing.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  await migrateToBaseline(database);
  const [short, forEver] = [randomUUID(), randomUUID()];
  const gone = Array.from({ length: 60 }, () => agedPart(short, someEvents(100), 20));
  const kept = Array.from({ length: 60 }, () => agedPart(forEver, someEvents(1), 20));
  for (const [i, part] of gone.entries())
    await sql.unsafe(baselineStatement, baselineParameters([part, ...kept.slice(i, i + 1)]));
  await migrateDatabase(backing.url);
  await fillLedger(backing.url, { report: () => {} });
  await sql`INSERT INTO spaces (id, name, retention_days) VALUES (${short}, 'short', 7), (${forEver}, 'for ever', NULL)`;

  const expire = () => expireData(database, { retentionDaysMax: undefined, nowMs: Date.now() });
  // Until its index is built, finding the events of a segment means reading the whole partition.
  expect(await expire()).toMatchObject({ events: 0 });
  await buildInitialIndexes(database);
  expect(await expire()).toMatchObject({ dropped: [], events: 6_000, rewritten: 1 });
  const rows = await sql<{ rows: number }[]>`SELECT count(*)::integer AS rows FROM events GROUP BY space_id`;
  expect(rows).toEqual([{ rows: 60 }]);
  const [first] = await listPartitions(database, events);
  expect(first).toEqual({
    name: expect.stringMatching(/^events_before_\d{8}$/),
    range: { fromMs: -Infinity, toMs: expect.any(Number) },
  });
  // It is a partition as any other, and the ledger knows what it held.
  await buildInitialIndexes(database);
  expect(await insertParts(database, gone.slice(0, 1))).toBe(0);
  expect(await insertParts(database, [agedPart(forEver, someEvents(2), 20)])).toBe(2);
  expect(await expire()).toMatchObject({ dropped: [], events: 0, rewritten: 0 });
});
