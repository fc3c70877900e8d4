import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mediaOf } from '../../harness/fixtures/media.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { media, mediaUses } from '../../store/db/schema.ts';
import { deleteUses } from '../../store/media/delete-uses.ts';
import { deleteExpiredMedia } from '../../store/media/expired-media.ts';
import { hasMedia, readMedia } from '../../store/media/read-media.ts';
import { storeMedia } from '../../store/media/store-media.ts';

describe.skipIf(citusUrl === undefined)('media on the Citus cluster of WEIR_TEST_CITUS_URL', () => {
  const resources = new AsyncDisposableStack();
  let database: Database;
  beforeAll(async () => {
    const { url } = resources.use(await createCitusDatabase(citusUrl ?? ''));
    const options = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 60_000 };
    database = openDatabase(resources.use(openPostgres(url, options)));
  }, turnTimeoutMs);
  afterAll(() => resources.disposeAsync());

  test('they are stored once with each of their uses, and deleted with the last', async () => {
    const { id: spaceId } = await createSpace(database, 'test');
    const [first, second] = [randomUUID(), randomUUID()];
    const useOf = (traceId: string, daysAgo: number, data = Buffer.from('bytes')) => ({
      receivedAtMs: BigInt(Date.now() - daysAgo * 86_400_000),
      media: { ...mediaOf({ id: 'a', traceId }), data },
    });
    const uses = [useOf(first, 0), useOf(second, 9, Buffer.alloc(0))];
    for (const _ of ['delivered', 'redelivered']) expect(await storeMedia(database, spaceId, uses)).toBe(0);
    expect(await storeMedia(database, randomUUID(), uses.slice(1))).toBe(1);
    expect(await hasMedia(database, spaceId, 'a')).toBe(true);
    expect(await readMedia(database, spaceId, 'a')).toEqual(Buffer.from('bytes'));
    const erase = (traceId: string) =>
      database.transaction((transaction) => deleteUses(transaction, spaceId, eq(mediaUses.traceId, traceId)));
    expect(await erase(first)).toMatchObject({ mediaIds: [], useIds: [uses[0]?.media.useId] });
    // The use that is left is nine days old.
    expect(await deleteExpiredMedia(database, spaceId, Date.now() - 10 * 86_400_000)).toBe(0);
    expect(await deleteExpiredMedia(database, spaceId, Date.now() - 8 * 86_400_000)).toBe(1);
    expect(await database.$count(mediaUses)).toBe(0);
    await storeMedia(database, spaceId, [useOf(randomUUID(), 0)]);
    const [own] = await database.select().from(mediaUses);
    expect(await erase(own?.traceId ?? '')).toMatchObject({ mediaIds: ['a'] });
    expect(await database.$count(media)).toBe(0);
  }, 120_000);
});
