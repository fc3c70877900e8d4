import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createSpace } from '../../../store/accounts/spaces.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import { apiKeys, usageDays } from '../../../store/db/schema.ts';
import { createDatabase } from '../../../test/support/test-servers.ts';
import { KeyUses } from './key-uses.ts';

test('uses and repeats that Postgres did not take are written with the next ones, once', async () => {
  await using owned = await createDatabase();
  await using sql = openPostgres(owned.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 10_000,
  });
  const database = openDatabase(sql);
  const { id: spaceId } = await createSpace(database, 'x', {});
  const key = (name: string) => ({ spaceId, name, hash: Buffer.from(name), lastFour: 'aaaa' });
  const rows = await database
    .insert(apiKeys)
    .values([key('used again'), key('used once')])
    .returning();
  const [again, once] = rows.map(({ id }) => id);
  if (again === undefined || once === undefined) throw new Error('no keys');
  await using uses = new KeyUses(database, pino({ level: 'silent' }));
  const [firstMs, laterMs] = [Date.parse('2026-11-28T10:00:00Z'), Date.parse('2026-11-28T10:01:00Z')];
  for (const keyId of [again, once]) uses.note(keyId, firstMs);
  uses.noteRepeats({ spaceId, keyId: once }, 3, firstMs);

  await sql`ALTER TABLE api_keys RENAME TO api_keys_away`;
  await uses.flush();
  await sql`ALTER TABLE api_keys_away RENAME TO api_keys`;
  uses.note(again, laterMs);
  await uses.flush();
  await uses.flush();

  const used = await database.select({ id: apiKeys.id, atMs: apiKeys.lastUsedAt }).from(apiKeys);
  expect(new Map(used.map(({ id, atMs }) => [id, atMs?.getTime()]))).toEqual(
    new Map([
      [again, laterMs],
      [once, firstMs],
    ]),
  );
  expect(await database.select().from(usageDays)).toMatchObject([{ apiKeyId: once, events: 0, repeats: 3 }]);
});
