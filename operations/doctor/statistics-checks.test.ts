import { expect, test } from 'vitest';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { checkStatistics } from './statistics-checks.ts';

test('it finds statistics that are not folded', async () => {
  // Without a writer, which would fold them.
  await using created = await createDatabase();
  await using sql = openPostgres(created.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 10_000,
  });
  const database = openDatabase(sql);
  expect(await checkStatistics(database)).toMatchObject({ status: 'ok', found: '0 rows wait to be folded' });
  await sql`
    INSERT INTO statistic_deltas (space_id, minute, type, name, source, events, duration_ms, latency)
    SELECT gen_random_uuid(), minute, 'llm', '', '', 1, 1, '{}' FROM generate_series(1, 3) AS minute`;
  expect(await checkStatistics(database, 3)).toMatchObject({ status: 'ok' });
  expect(await checkStatistics(database, 2)).toMatchObject({ status: 'warning' });
});
