import { jetstream } from '@nats-io/jetstream';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { mediaOf } from '../../harness/fixtures/media.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { issueApiKey, revokeApiKey } from '../../store/accounts/api-keys.ts';
import { operator } from '../../store/accounts/audit/audit.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { encodeChanges } from '../../store/control/change.ts';
import { hasPendingChanges, relayControlChanges } from '../../store/control/relay.ts';
import {
  controlStream,
  ensureControlStream,
  pruneControlStream,
  readControlState,
  readControlStream,
} from '../../store/control/stream.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import * as schema from '../../store/db/schema.ts';
import { storeMedia } from '../../store/media/store-media.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { openDashboard } from '../../test/support/dashboard.ts';
import { createDatabase, startNats } from '../../test/support/test-servers.ts';
import { until } from '../../test/support/wait.ts';
import { eraseEvents } from '../erasure/erase.ts';
import type { EventsSubject } from '../erasure/subject.ts';
import { runRequest } from '../erasure-requests/request-run.ts';
import { listRequests, requestErasure } from '../erasure-requests/requests.ts';
import { applyControlChanges } from './apply-changes.ts';

const resources = new AsyncDisposableStack();
let server: Awaited<ReturnType<typeof startNats>>;
let nats: Awaited<ReturnType<typeof connectQueue>>;
beforeAll(async () => {
  server = resources.use(await startNats());
  nats = resources.use(await connectQueue(server.url, 'test'));
  await ensureControlStream(nats, { NATS_REPLICAS: 1 });
});
afterAll(() => resources.disposeAsync());

const open = (url: string) =>
  openDatabase(
    resources.use(openPostgres(url, { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 })),
  );
const readSequence = async () => ({ afterSequence: (await readControlState(nats))?.lastSequence ?? 0 });

test('what was erased after the restored time is erased again, never stored again, and counted as before', async () => {
  const source = await createDatabase();
  let database = open(source.url);
  const { id: spaceId } = await createSpace(database, 'a space');
  const eventOf = (userId: string) =>
    llmEvent({ context: { userId, threadId: 'thread', agentId: 'agent' }, tokenUsage: { inputTokens: 7 } });
  const before = [eventOf('gone'), eventOf('kept')];
  const since = [eventOf('gone'), eventOf('kept'), eventOf('gone')];
  const [partBefore, partSince] = [partOf(spaceId, before), partOf(spaceId, since)];
  const [usedBefore, usedSince] = [before, since].map(([event]) => ({
    receivedAtMs: BigInt(Date.now()),
    media: mediaOf({ id: String(event?.id), eventId: String(event?.id) }),
  }));
  const storeUse = (store: Database, use: typeof usedBefore) =>
    storeMedia(store, spaceId, use === undefined ? [] : [use]);
  await insertParts(database, [partBefore]);
  await storeUse(database, usedBefore);
  await relayControlChanges(database, nats);
  const start = await readSequence();
  await database.$client.end();
  const copied = resources.use(await createDatabase({ template: new URL(source.url).pathname.slice(1) }));

  database = open(source.url);
  await insertParts(database, [partSince]);
  await storeUse(database, usedSince);
  await eraseEvents({ database, connection: nats }, spaceId, {
    subject: { kind: 'user', value: 'gone' },
    reason: 'asked',
  });
  await relayControlChanges(database, nats);
  const lost = await measure(database, spaceId);
  expect(lost.events).toHaveLength(2);
  await database.$client.end();
  await source[Symbol.asyncDispose]();
  for await (const changes of readControlStream(nats, start))
    expect(JSON.stringify(changes)).not.toContain('"gone"');

  const restored = open(copied.url);
  expect((await measure(restored, spaceId)).events).toHaveLength(2);
  const applied = await applyControlChanges(restored, nats, { start });
  expect(applied).toMatchObject({ idsAdded: 3, eventsErased: 1, notReached: [], gap: undefined });
  // The queue delivers both messages again.
  await insertParts(restored, [partBefore]);
  await insertParts(restored, [partSince]);
  for (const use of [usedBefore, usedSince]) await storeUse(restored, use);
  expect(await restored.$count(schema.media)).toBe(0);
  const replayed = await measure(restored, spaceId);
  expect(replayed).toEqual(lost);
  const [row] = await restored.select().from(schema.erasures).where(eq(schema.erasures.spaceId, spaceId));
  expect(row).toMatchObject({ events: 3, media: 2, unwritten: [], completedAt: expect.any(Date) });
  await applyControlChanges(restored, nats, { start });
  expect(await measure(restored, spaceId)).toEqual(lost);
});

test.each([
  ['stay for another event whose use the queue has', ['gone'], 1],
  ['are erased with the last of them', ['gone', 'kept'], 0],
])('media of an event that is erased again %s', async (_, erasedUsers, left) => {
  const source = await createDatabase();
  let database = open(source.url);
  const { id: spaceId } = await createSpace(database, 'a space');
  const [gone, kept] = ['gone', 'kept'].map((userId) => llmEvent({ context: { userId } }));
  const useOf = (event: typeof gone, bytes: string) => ({
    receivedAtMs: BigInt(Date.now()),
    media: { ...mediaOf({ id: 'shared', eventId: String(event?.id) }), data: Buffer.from(bytes) },
  });
  const [before, since] = [useOf(gone, 'an image'), useOf(kept, '')];
  await insertParts(database, [
    partOf(
      spaceId,
      [gone, kept].flatMap((event) => event ?? []),
    ),
  ]);
  await storeMedia(database, spaceId, [before]);
  await relayControlChanges(database, nats);
  const start = await readSequence();
  await database.$client.end();
  const copied = resources.use(await createDatabase({ template: new URL(source.url).pathname.slice(1) }));

  database = open(source.url);
  await storeMedia(database, spaceId, [since]);
  for (const value of erasedUsers) {
    const subject = { kind: 'user', value } as const;
    await eraseEvents({ database, connection: nats }, spaceId, { subject, reason: 'asked' });
  }
  expect(await database.$count(schema.media)).toBe(left);
  await relayControlChanges(database, nats);
  await database.$client.end();
  await source[Symbol.asyncDispose]();

  const restored = open(copied.url);
  await applyControlChanges(restored, nats, { start });
  await storeMedia(restored, spaceId, [since]);
  expect(await restored.$count(schema.media)).toBe(left);
  expect(await restored.$count(schema.mediaUses)).toBe(left);
});

test('an erasure that was requested and had not ended is carried out after a restore, and the stream does not name whom', async () => {
  const source = await createDatabase();
  let database = open(source.url);
  const { id: spaceId } = await createSpace(database, 'a space');
  const eventOf = (userId: string) => llmEvent({ context: { userId } });
  const kept = eventOf('kept');
  await insertParts(database, [partOf(spaceId, [eventOf('gone'), kept])]);
  await relayControlChanges(database, nats);
  const start = await readSequence();
  await database.$client.end();
  const copied = resources.use(await createDatabase({ template: new URL(source.url).pathname.slice(1) }));

  database = open(source.url);
  const request = (subject: EventsSubject) =>
    requestErasure(database, spaceId, { subject, reason: undefined, actor: operator });
  const id = (await request({ kind: 'user', value: 'gone' })) ?? '';
  const ofNobody = (await request({ kind: 'thread', value: 'nowhere' })) ?? '';
  const before = (await request({ kind: 'before', timeMs: 1 })) ?? '';
  const done = (await request({ kind: 'user', value: 'done' })) ?? '';
  await database.delete(schema.erasureRequests).where(eq(schema.erasureRequests.id, done));
  await relayControlChanges(database, nats);
  await database.$client.end();
  await source[Symbol.asyncDispose]();
  for await (const changes of readControlStream(nats, start))
    expect(JSON.stringify(changes)).not.toMatch(/gone|nowhere|done/);

  const [restored, erasing] = [open(copied.url), open(copied.url)];
  await applyControlChanges(restored, nats, { start });
  const listed = () => listRequests(restored, spaceId);
  expect((await listed()).map((one) => one.id)).toEqual([id, ofNobody, before]);
  const run = (one: string) =>
    runRequest(
      { erasing, database: restored, connection: nats, backupRetentionDays: undefined },
      { spaceId, id: one },
    );
  expect(await run(id)).toMatchObject({ subject: { user: 'gone' }, erased: { events: 1 } });
  expect(await run(ofNobody)).toBeUndefined();
  expect(await run(before)).toMatchObject({ erased: { events: 0 } });
  expect(await listed()).toEqual([]);
  expect((await measure(restored, spaceId)).events).toEqual([kept.id]);
});

/** What a space has, and what is counted of it. */
async function measure(database: Database, spaceId: string) {
  const { events, usageMonths, usageDays, eventStats, eventStatsRollups, agentStats, segments } = schema;
  await foldStatistics(database);
  const stats = [eventStats, eventStatsRollups, agentStats] as const;
  const sums = [];
  for (const table of stats)
    sums.push(
      await database.execute(sql`
        SELECT sum(events)::float8 AS events, sum(input_tokens)::float8 AS tokens, sum(duration_ms) AS ms, count(*)::integer AS rows
        FROM ${table} WHERE space_id = ${spaceId}`),
    );
  const days = await database.select().from(usageDays).where(eq(usageDays.spaceId, spaceId));
  return {
    events: (await database.select({ id: events.id }).from(events).where(eq(events.spaceId, spaceId)))
      .map(({ id }) => id)
      .toSorted(),
    ids: await database.$count(schema.eventIds, eq(schema.eventIds.spaceId, spaceId)),
    segments: await database.$count(segments, eq(segments.spaceId, spaceId)),
    months: await database.select().from(usageMonths).where(eq(usageMonths.spaceId, spaceId)),
    // A repeat is counted, as for every message that is delivered again.
    days: days.map(({ repeats: _, ...day }) => day),
    sums: sums.map(([row]) => row),
  };
}

test('a relay that is killed between publish and delete, and one that publishes an old change last, change nothing', async () => {
  await using source = await createDatabase();
  const database = open(source.url);
  const { id: spaceId } = await createSpace(database, 'a space');
  await using copied = await createDatabase();
  const { keyId } = await issueApiKey(database, spaceId, { name: 'key', pepper: 'a pepper of the tests' });
  const start = await readSequence();
  // The statement of the deletion fails once the message is published, as in a process that is killed there.
  await database.execute(
    sql`CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'killed'; END $$`,
  );
  await database.execute(sql`CREATE TRIGGER stop BEFORE DELETE ON control_changes EXECUTE FUNCTION stop()`);
  await expect(relayControlChanges(database, nats)).rejects.toThrow('killed');
  await database.execute(sql`DROP TRIGGER stop ON control_changes`);
  expect(await hasPendingChanges(database)).toBe(true);
  await revokeApiKey(database, keyId);
  await relayControlChanges(database, nats);
  expect(await hasPendingChanges(database)).toBe(false);
  // A relay that was frozen publishes what it had read before the key was revoked.
  const [first = []] = await Array.fromAsync(readControlStream(nats, start));
  await jetstream(nats).publish(controlStream.subject, encodeChanges(first));
  const restored = open(copied.url);
  const applied = await applyControlChanges(restored, nats, { start });
  expect(applied).toMatchObject({ skipped: 0, gap: undefined });
  const [key] = await restored.select().from(schema.apiKeys).where(eq(schema.apiKeys.id, keyId));
  const [original] = await database.select().from(schema.apiKeys).where(eq(schema.apiKeys.id, keyId));
  expect(key?.revokedAt).toBeInstanceOf(Date);
  expect(key).toEqual(original);

  const { lastSequence } = (await readControlState(nats)) ?? { lastSequence: 0 };
  await pruneControlStream(nats, lastSequence - 1);
  const { gap } = await applyControlChanges(restored, nats, { start });
  expect(gap).toEqual({ fromSequence: start.afterSequence + 1, throughSequence: lastSequence - 1 });
});

test('the stream has a change of the dashboard when it is answered; without nats-server it is answered all the same', async () => {
  await using dashboard = await openDashboard({ variables: { NATS_URL: server.url } });
  const { database } = dashboard;
  const { client, spaceId } = await dashboard.addSpace();
  const countPending = () => database.$count(schema.controlChanges);
  // The connection is made in the background.
  await until(async () => {
    await client.trpc.spaces.rename.mutate({ spaceId, name: 'renamed' });
    return (await countPending()) === 0;
  });
  const start = await readSequence();
  const { keyId } = await client.trpc.apiKeys.create.mutate({ spaceId, name: 'key' });
  await client.trpc.apiKeys.revoke.mutate({ spaceId, keyId });
  expect(await countPending()).toBe(0);
  const changes = (await Array.fromAsync(readControlStream(nats, start))).flat();
  const ofKey = changes.filter(({ table }) => table === 'api_keys').map(({ image }) => JSON.parse(image));
  expect(ofKey.map(({ id, revoked_at }) => [id, revoked_at !== null])).toEqual([
    [keyId, false],
    [keyId, true],
  ]);
  await server.stop();
  await client.trpc.spaces.rename.mutate({ spaceId, name: 'without a queue' });
  expect(await countPending()).toBeGreaterThan(0);
  await server.restart();
  await until(async () => {
    await client.trpc.spaces.rename.mutate({ spaceId, name: 'with it' });
    return (await countPending()) === 0;
  });
});
