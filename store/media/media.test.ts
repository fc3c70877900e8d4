import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mediaOf } from '../../harness/fixtures/media.ts';
import { createDatabase } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { createSpace } from '../accounts/spaces.ts';
import { openPostgres, type Sql } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { media, mediaUses } from '../db/schema.ts';
import { deleteUses } from './delete-uses.ts';
import { deleteExpiredMedia } from './expired-media.ts';
import { hasMedia } from './read-media.ts';
import { storeMedia } from './store-media.ts';

const resources = new AsyncDisposableStack();
let sql: Sql;
let database: Database;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  sql = resources.use(
    openPostgres(url, { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 60_000 }),
  );
  database = openDatabase(sql);
});
afterAll(() => resources.disposeAsync());

const dayMs = 86_400_000;
const useOf = (id: string, { daysAgo = 0, isStored = false } = {}) => {
  const own = mediaOf({ id });
  const data = isStored ? Buffer.alloc(0) : own.data;
  return { receivedAtMs: BigInt(Date.now() - daysAgo * dayMs), media: { ...own, data } };
};
const newSpace = async () => (await createSpace(database, 'test')).id;
const count = async (spaceId: string) => [
  await database.$count(media, eq(media.spaceId, spaceId)),
  await database.$count(mediaUses, eq(mediaUses.spaceId, spaceId)),
];
const untilBlocked = () =>
  until(async () => {
    const [row] =
      await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return row !== undefined;
  });

/** Stores a use while the only other one is being deleted. */
async function storeDuringErasure(spaceId: string, isStored: boolean): Promise<number> {
  await storeMedia(database, spaceId, [useOf('a')]);
  let storing: Promise<number> | undefined;
  await database.transaction(async (transaction) => {
    await deleteUses(transaction, spaceId, eq(mediaUses.mediaId, 'a'));
    storing = storeMedia(database, spaceId, [useOf('a', { isStored })]);
    await untilBlocked();
  });
  return (await storing) ?? 0;
}

test('media that are sent while they are erased are stored', async () => {
  const spaceId = await newSpace();
  expect(await storeDuringErasure(spaceId, false)).toBe(0);
  expect(await count(spaceId)).toEqual([1, 1]);
});

test('a use of media that are erased meanwhile is refused, and can be sent again with the media', async () => {
  const spaceId = await newSpace();
  expect(await storeDuringErasure(spaceId, true)).toBe(1);
  expect(await count(spaceId)).toEqual([0, 0]);
  const use = useOf('b', { isStored: true });
  expect(await storeMedia(database, spaceId, [use])).toBe(1);
  expect(
    await storeMedia(database, spaceId, [{ ...use, media: { ...use.media, data: Buffer.from('b') } }]),
  ).toBe(0);
  expect(await count(spaceId)).toEqual([1, 1]);
});

test('media that were not used for half a day are sent again, so that they do not expire before their use is stored', async () => {
  const spaceId = await newSpace();
  await storeMedia(database, spaceId, [useOf('old', { daysAgo: 0.6 }), useOf('used')]);
  expect(await hasMedia(database, spaceId, 'old')).toBe(false);
  expect(await hasMedia(database, spaceId, 'used')).toBe(true);
  expect(await hasMedia(database, await newSpace(), 'used')).toBe(false);
});

test('after an erasure media expire with the uses that are left', async () => {
  const spaceId = await newSpace();
  const [young, old] = [useOf('a'), useOf('a', { daysAgo: 9 })];
  await storeMedia(database, spaceId, [young, old]);
  await deleteExpiredMedia(database, spaceId, Date.now() - 20 * dayMs);
  expect(await count(spaceId)).toEqual([1, 2]);
  await database.transaction((transaction) =>
    deleteUses(transaction, spaceId, eq(mediaUses.id, young.media.useId)),
  );
  expect(await deleteExpiredMedia(database, spaceId, Date.now() - 8 * dayMs)).toBe(1);
  expect(await count(spaceId)).toEqual([0, 0]);
});

test('as many uses are deleted as a trace may have: more than a statement may have parameters', async () => {
  const spaceId = await newSpace();
  const { media: use } = useOf('a');
  await storeMedia(database, spaceId, [{ receivedAtMs: BigInt(Date.now()), media: use }]);
  await sql`INSERT INTO media_uses (space_id, id, media_id, trace_id, received_at)
    SELECT ${spaceId}, gen_random_uuid(), 'media ' || n, ${use.traceId}, now() FROM generate_series(1, 66000) AS n`;
  const { mediaIds, useIds } = await database.transaction((transaction) =>
    deleteUses(transaction, spaceId, eq(mediaUses.traceId, use.traceId)),
  );
  expect([mediaIds.length, useIds.length]).toEqual([1, 66_001]);
  expect(await count(spaceId)).toEqual([0, 0]);
});

test('nothing is stored for a space that is deleted', async () => {
  const spaceId = randomUUID();
  await sql`INSERT INTO deleted_spaces (space_id, name, requested_at, requested_by) VALUES (${spaceId}, 'gone', now(), 'operator')`;
  expect(await storeMedia(database, spaceId, [useOf('a'), useOf('a', { isStored: true })])).toBe(0);
  expect(await count(spaceId)).toEqual([0, 0]);
});
