import { pino } from 'pino';
import { expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { keepPartitions } from './partition-upkeep.ts';

test('the writer creates missing partitions, and logs an alarm for rows in the default partition', async () => {
  await using backing = await createDatabase();
  await using sql = openPostgres(backing.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  const partitions = async () =>
    sql<
      { name: string }[]
    >`SELECT relname AS name FROM pg_class WHERE relname ~ '^events_[0-9]' AND relkind = 'r'`;
  const before = await partitions();
  for (const { name } of before) await sql.unsafe(`DROP TABLE ${name}`);
  const segmentId = 'ffffffff-ffff-4fff-bfff-ffffffffffff';
  const spaceId = '01900000-0000-7000-8000-000000000000';
  await insertParts(openDatabase(sql), [partOf(spaceId, someEvents(1), { segmentId })]);
  const entries: { level: number; msg: string }[] = [];
  const log = pino({}, { write: (line: string) => void entries.push(JSON.parse(line)) });
  await using _ = keepPartitions(backing.url, log);
  await until(() => entries.length === 2);
  expect(entries).toEqual([
    expect.objectContaining({ level: 50, msg: expect.stringMatching(/^ALARM: segments_default holds rows/) }),
    expect.objectContaining({ level: 50, msg: expect.stringMatching(/^ALARM: events_default holds rows/) }),
  ]);
  expect(await partitions()).toHaveLength(before.length);
});
