import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { batchSegmentsMax } from '../../operations/erasure/limits.ts';
import { ownSegmentBytesMin } from '../../services/ingest/commit/compressed-batch.ts';
import { runWeir } from '../support/cli/command-line.ts';
import { startErase as startEraseProcess } from '../support/cli/erase-process.ts';
import { openDashboard } from '../support/dashboard.ts';
import { postEvents } from '../support/http.ts';
import { type Pipeline, startPipeline, startProcessPipeline, type Tenant } from '../support/pipeline.ts';
import { readStored } from '../support/stored-events.ts';
import { countRows, countUsage, until, untilDrained } from '../support/wait.ts';

const eventOf = (userId: string) => llmEvent({ context: { userId } });
const ofGone = ({ spaceId }: Tenant) => ['--space', spaceId, '--user', 'gone'];

const startErase = ({ variables }: Pipeline, tenant: Tenant) => startEraseProcess(variables, ofGone(tenant));

async function usersOf(pipeline: Pipeline, { spaceId }: Tenant): Promise<Map<string, number>> {
  const users = (await readStored(pipeline, spaceId)).map((event) => String(event.context.userId));
  return new Map([...Map.groupBy(users, (user) => user)].map(([user, list]) => [user, list.length]));
}

test('events accepted before the command are erased, also from the queue; events accepted later are kept', async () => {
  await using pipeline = await startPipeline();
  const [tenant, other] = [await pipeline.createTenant(), await pipeline.createTenant()];
  const stored = [eventOf('gone'), eventOf('kept')];
  await postEvents(pipeline, tenant, stored);
  await postEvents(pipeline, other, [eventOf('gone')]);
  await untilDrained(pipeline);
  await pipeline.writer.stop('SIGTERM');
  const queued = [eventOf('gone'), eventOf('kept'), eventOf('gone')];
  expect((await postEvents(pipeline, tenant, queued)).status).toBe(202);

  const erase = startErase(pipeline, tenant);
  await erase.said(/waiting for [1-9]\d* messages/);
  // Stored events are already erased.
  expect(await countRows(pipeline, tenant.spaceId)).toBe(1);
  const later = [eventOf('gone'), eventOf('kept')];
  expect((await postEvents(pipeline, tenant, later)).status).toBe(202);
  pipeline.writer = await pipeline.start('writer');
  const receipt = await erase.receipt();
  expect(receipt.erased).toMatchObject({ events: 3 });
  expect(await usersOf(pipeline, tenant)).toEqual(
    new Map([
      ['gone', 1],
      ['kept', 3],
    ]),
  );
  expect(await usersOf(pipeline, other)).toEqual(new Map([['gone', 1]]));

  // A retry is accepted, but neither stored nor billed.
  expect((await postEvents(pipeline, tenant, [...stored, ...queued])).status).toBe(202);
  expect(await usersOf(pipeline, tenant)).toEqual(
    new Map([
      ['gone', 1],
      ['kept', 3],
    ]),
  );
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(7);
});

test('an erasure while the same user is written removes all earlier events and keeps all later ones', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  const accepted: { id: unknown; fromMs: number; toMs: number }[] = [];
  let isOver = false;
  const clients = Array.from({ length: 3 }, async () => {
    while (!isOver) {
      const sent = [eventOf('gone'), eventOf('kept')];
      const fromMs = Date.now();
      expect((await postEvents(pipeline, tenant, sent)).status).toBe(202);
      accepted.push({ id: sent[0]?.id, fromMs, toMs: Date.now() });
      // Limits the load, so that the erasure gets enough CPU time.
      await sleep(20);
    }
  });
  await until(() => accepted.length > 60);
  const beganMs = Date.now();
  const erasing = startErase(pipeline, tenant)
    .receipt()
    .finally(async () => {
      const sentByThen = accepted.length;
      await until(() => accepted.length > sentByThen + 30);
      isOver = true;
    });
  const [receipt] = await Promise.all([erasing, ...clients]);
  const events = await readStored(pipeline, tenant.spaceId);
  const left = new Set(events.filter((event) => event.context.userId === 'gone').map(({ id }) => id));
  // Files are rewritten too, while writers store into the same week.
  expect(receipt.notReached).toEqual([]);
  expect(receipt.rewrittenTables).toHaveLength(3);
  const startedMs = Date.parse(receipt.startedAt);
  // By the clock of the start; a request in flight at that time may be erased or kept.
  const before = accepted.filter(({ toMs }) => toMs < beganMs);
  const after = accepted.filter(({ fromMs }) => fromMs > startedMs + 1);
  expect(before.length).toBeGreaterThan(50);
  expect(after.length).toBeGreaterThan(30);
  expect(before.filter(({ id }) => left.has(id))).toEqual([]);
  expect(after.filter(({ id }) => !left.has(id))).toEqual([]);
  expect(events.length - left.size).toBe(accepted.length);
  expect(receipt.erased.events).toBe(accepted.length - left.size);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(2 * accepted.length);
});

test('a command killed half-way resumes when it is run again', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  const segments = 8 * batchSegmentsMax;
  const parts = Array.from({ length: segments }, () =>
    partOf(tenant.spaceId, [eventOf('gone'), eventOf('kept')]),
  );
  await insertParts(pipeline.database, parts);
  const erase = startErase(pipeline, tenant);
  await erase.said(/events erased/);
  erase.kill();
  await erase.exited;
  const left = await countRows(pipeline, tenant.spaceId);
  expect(left).toBeGreaterThan(segments);
  expect(left).toBeLessThan(2 * segments);
  // The server releases the advisory lock and the open transaction with the connection.
  await until(async () => {
    const sessions = await pipeline.sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'weir-cli-erase'`;
    return sessions.length === 0;
  });
  const [row] = await pipeline.sql<{ events: number }[]>`SELECT events::integer FROM erasures`;
  expect(row?.events).toBe(2 * segments - left);
  const receipt = await startErase(pipeline, tenant).receipt();
  expect(receipt.erased).toMatchObject({ events: segments, segmentsRewritten: segments, segmentsDeleted: 0 });
  expect(await usersOf(pipeline, tenant)).toEqual(new Map([['kept', segments]]));
});

test('an erasure requested in the dashboard is run once by several writers, also after a crash, and leaves no name', async () => {
  await using pipeline = await startProcessPipeline();
  await using dashboard = await openDashboard({ databaseUrl: pipeline.variables.DATABASE_URL ?? '' });
  const { client, spaceId, email } = await dashboard.addSpace();
  const { trpc } = client;
  const segments = 8 * batchSegmentsMax;
  const user = 'xiphoid-user';
  const parts = Array.from({ length: segments }, () => partOf(spaceId, [eventOf(user), eventOf('kept')]));
  await insertParts(pipeline.database, parts);
  const preview = await trpc.erasures.preview.query({ kind: 'user', value: user });
  expect(preview).toMatchObject({ events: segments, segments, quarantineEvents: 0, isComplete: true });
  expect(Date.parse(preview.from ?? '')).toBeLessThanOrEqual(Date.parse(preview.to ?? ''));
  const tableFile = async () => {
    await pipeline.sql`CHECKPOINT`;
    const [file] = await pipeline.sql<{ bytes: Buffer }[]>`
      SELECT pg_read_binary_file(pg_relation_filepath('erasure_requests')) AS bytes`;
    return file?.bytes.toString('latin1') ?? '';
  };

  const second = await pipeline.start('writer');
  await trpc.erasures.request.mutate({ kind: 'user', value: user, reason: 'ticket 7' });
  await until(async () => (await countRows(pipeline, spaceId)) < 2 * segments);
  await Promise.all([pipeline.writer.stop('SIGKILL'), second.stop('SIGKILL')]);
  const { requests } = await trpc.erasures.list.query();
  expect(requests).toMatchObject([{ subject: 'user', reason: 'ticket 7', expectedEvents: segments }]);
  expect(JSON.stringify(requests)).not.toContain(user);
  expect(await tableFile()).toContain(user);

  const [third, fourth] = await Promise.all([pipeline.start('writer'), pipeline.start('writer')]);
  pipeline.writer = third;
  await using _fourth = fourth;
  await until(async () => (await trpc.erasures.list.query()).completed.length > 0);
  const { completed, requests: left } = await trpc.erasures.list.query();
  expect(left).toEqual([]);
  expect(completed).toMatchObject([{ events: segments, requestedBy: email, reason: 'ticket 7' }]);
  const receipt = JSON.parse(completed[0]?.receipt ?? '');
  const hash = createHash('sha256').update(`${spaceId}:user:${user}`).digest('hex');
  expect(receipt).toMatchObject({ subject: { user: `sha256:${hash}` }, notReached: [], reason: 'ticket 7' });
  expect(receipt.erased).toMatchObject({ events: segments, segmentsRewritten: segments });
  expect(await usersOf(pipeline, { spaceId, keyId: '', apiKey: '' })).toEqual(new Map([['kept', segments]]));

  const { rows } = await trpc.audit.list.query();
  const changes = rows.filter(({ action }) => action.startsWith('erasure.'));
  const actions = changes.map(({ action }) => action).toReversed();
  expect(actions).toEqual(['erasure.request', 'erasure.begin', 'erasure.continue', 'erasure.complete']);
  expect(new Set(changes.map(({ actorEmail }) => actorEmail))).toEqual(new Set([email]));
  expect(JSON.stringify(rows)).not.toContain(user);
  await until(async () => !(await tableFile()).includes(user));
  const [samples] = await pipeline.sql`
    SELECT count(*)::integer AS count FROM pg_stats WHERE tablename = 'erasure_requests' AND attname = 'value'`;
  expect(samples?.count).toBe(0);
});

test('events in quarantine are erased, the others stay replayable, and an erased event is never stored', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  await pipeline.sql`ALTER TABLE events ADD CONSTRAINT refused CHECK (user_id NOT IN ('gone', 'kept'))`;
  const sent = [eventOf('gone'), eventOf('kept'), eventOf('other'), eventOf('gone')];
  expect((await postEvents(pipeline, tenant, sent)).status).toBe(202);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(1);
  const { exitCode, stdout } = await runWeir(['erase', ...ofGone(tenant), '--yes'], pipeline.variables);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).erased).toMatchObject({ quarantineEvents: 2, quarantineDeleted: 2 });
  await pipeline.sql`ALTER TABLE events DROP CONSTRAINT refused`;
  const replayed = await runWeir(['quarantine', 'replay'], pipeline.variables);
  expect(JSON.parse(replayed.stdout)).toEqual({ replayed: [sent[1]?.id], failed: [] });
  expect((await postEvents(pipeline, tenant, sent)).status).toBe(202);
  expect(await usersOf(pipeline, tenant)).toEqual(
    new Map([
      ['kept', 1],
      ['other', 1],
    ]),
  );
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(2);
});

test('an erased event that is sent again with new ones stores no text', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  const gone = llmEvent({ context: { userId: 'gone' }, additionalProperties: { word: 'xiphoid' } });
  expect((await postEvents(pipeline, tenant, [gone, eventOf('kept')])).status).toBe(202);
  await untilDrained(pipeline);
  await startErase(pipeline, tenant).receipt();
  // In a segment shared by small requests, and in a separate one.
  const long = 'x'.repeat(ownSegmentBytesMin);
  for (const properties of [{}, { additionalProperties: { long } }]) {
    const fresh = llmEvent({ context: { userId: 'fresh' }, ...properties });
    expect((await postEvents(pipeline, tenant, [fresh, gone])).status).toBe(202);
    await untilDrained(pipeline);
    expect((await readStored(pipeline, tenant.spaceId)).find(({ id }) => id === fresh.id)).toEqual(fresh);
  }
  expect(await usersOf(pipeline, tenant)).toEqual(
    new Map([
      ['kept', 1],
      ['fresh', 2],
    ]),
  );
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(4);
  const bodies = await pipeline.sql<{ body: Buffer }[]>`SELECT body FROM segments`;
  expect(bodies).toHaveLength(3);
  for (const { body } of bodies) expect(zstdDecompressSync(body).toString()).not.toContain('xiphoid');
  const [days] = await pipeline.sql<
    { repeats: number }[]
  >`SELECT sum(repeats)::integer AS repeats FROM usage_days`;
  expect(days?.repeats).toBe(2);
  const receipt = await startErase(pipeline, tenant).receipt();
  expect(receipt.erased).toMatchObject({ events: 0, segmentsRewritten: 0 });
});
