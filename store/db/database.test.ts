import { sql as query } from 'drizzle-orm';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres } from './connect.ts';
import { openDatabase } from './database.ts';
import { spaces } from './schema.ts';

test('the error of a failed query is the driver’s own, and does not repeat the parameters', async () => {
  await using backing = await createDatabase();
  await using sql = openPostgres(backing.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  const values = { name: 'a secret', monthlyEventLimit: -1 };
  const failing = [
    () => database.insert(spaces).values(values),
    () => database.execute(query`SELECT 1 / length(${'a secret'}::text) / 0`),
    () => database.transaction((transaction) => transaction.insert(spaces).values(values)),
  ];
  for (const run of failing) {
    const error: unknown = await run().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(postgres.PostgresError);
    expect(String(error)).not.toContain('a secret');
  }
});
