import { expect, test } from 'vitest';
import { llmEvent } from '../harness/fixtures/events.ts';
import { openPostgres } from '../store/db/connect.ts';
import { createDatabase } from '../test/support/test-servers.ts';
import { columnInDatabase, columnNames, columnTypes } from './columns.ts';
import { projectEvents } from './projection.ts';
import { splitElements } from './text.ts';
import { compileBatchRules } from './validate.ts';

/** Columns of `events` with one value per part. */
const ofThePart = { space_id: 'uuid', segment_id: 'uuid', received_at: 'timestamp with time zone' };

test('every column that the queue carries is a column of the table, of the same type, and vice versa', async () => {
  await using database = await createDatabase();
  await using sql = openPostgres(database.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  const rows = await sql<{ name: string; type: string }[]>`
    SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_name = 'events'`;
  const inTable = Object.fromEntries(rows.map(({ name, type }) => [name, type]));
  const inQueue = Object.fromEntries(columnNames.map((name) => [columnInDatabase(name), columnTypes[name]]));
  expect(inTable).toEqual({ ...inQueue, ...ofThePart });
});

test('each column has one element for each event', () => {
  const events = compileBatchRules('weir').validateBatch({
    events: [llmEvent(), llmEvent({ context: {} }), llmEvent()],
  });
  const { columns } = projectEvents(events);
  for (const name of columnNames) expect(splitElements(columns[name]), name).toHaveLength(3);
});
