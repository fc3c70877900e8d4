import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { mediaOf } from '../../harness/fixtures/media.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { batchSegmentsMax } from '../../operations/erasure/limits.ts';
import { rowsPerBatch } from '../../operations/erasure-requests/limits.ts';
import { requestLostDeletions } from '../../operations/erasure-requests/space-deletion.ts';
import { parseConfig } from '../../platform/config.ts';
import { issueApiKey } from '../../store/accounts/api-keys.ts';
import { erasureRequests, eventIds } from '../../store/db/schema.ts';
import { storeMedia } from '../../store/media/store-media.ts';
import { recordSenders } from '../../store/senders.ts';
import { storeNodes } from '../../store/traces/store-nodes.ts';
import { quarantineEvent } from '../../store/write/quarantine.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { runWeir } from '../support/cli/command-line.ts';
import { openDashboard } from '../support/dashboard.ts';
import { postEvents } from '../support/http.ts';
import { type Pipeline, startPipeline } from '../support/pipeline.ts';
import { countRows, countUsage, until, untilDrained } from '../support/wait.ts';

const eraser = fileURLToPath(new URL('../../operations/erasure-requests/main.ts', import.meta.url));

/** What stays of a deleted space, by table (ADR 30). */
const kept = ['audit_log', 'deleted_spaces', 'erasures', 'usage_months'];

/**
 * The tables with rows of a space: every table with a column of spaces is asked, also those of the future.
 */
async function tablesWith({ sql }: Pipeline, spaceId: string): Promise<string[]> {
  const columns = await sql<{ table: string; column: string }[]>`
    SELECT table_name AS table, column_name AS column FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND (column_name = 'space_id' OR table_name = 'spaces' AND column_name = 'id')
      AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(quote_ident(table_name)))`;
  expect(columns.length).toBeGreaterThan(25);
  const found: string[] = [];
  for (const { table, column } of columns) {
    const rows = await sql`SELECT 1 FROM ${sql(table)} WHERE ${sql(column)} = ${spaceId} LIMIT 1`;
    if (rows.length > 0) found.push(table);
  }
  return found.toSorted();
}

const eventOf = (marks: object = {}) =>
  llmEvent({ context: { userId: 'u', agentId: 'agent', threadId: 't' }, ...marks });

const nodeOf = (traceId: string) => ({
  trace_id: traceId,
  span_id: randomBytes(8).toString('hex'),
  ...{ kind: 'agent', name: 'agent', state: 'ok', start_time_ms: 1, end_time_ms: 2 },
});

test('a deleted space is refused at once, can be restored for a day, and leaves nothing; late events do not bring it back', async () => {
  await using pipeline = await startPipeline();
  await using dashboard = await openDashboard({ databaseUrl: pipeline.variables.DATABASE_URL ?? '' });
  const { database, sql } = pipeline;
  const [tenant, other] = [await pipeline.createTenant(), await pipeline.createTenant()];
  const { spaceId } = tenant;
  const owner = await dashboard.addMember(tenant, 'owner');
  const { trpc } = owner.client;
  const of = { spaceId };
  const weir = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runWeir(args, pipeline.variables);
    expect({ args, exitCode, stderr }).toMatchObject({ exitCode: 0 });
    return JSON.parse(stdout);
  };

  // Rows in every table.
  const segments = 8 * batchSegmentsMax;
  await insertParts(
    database,
    Array.from({ length: segments }, () => partOf(spaceId, [eventOf()])),
  );
  await database
    .insert(eventIds)
    .values(Array.from({ length: rowsPerBatch + 7 }, () => ({ spaceId, id: randomUUID() })));
  await trpc.spaces.switch.mutate(of);
  await trpc.prices.set.mutate({ ...of, model: 'm', validFrom: '2026-01-01', input: '1', output: '2' });
  await trpc.invitations.create.mutate({ ...of, email: 'invited@example.org', role: 'viewer' });
  const counts = {
    service: 's',
    scope: '',
    version: '',
    sdk: '',
    stored: 1,
    merged: 0,
    leftOut: 0,
    refused: 0,
  };
  await recordSenders(database, spaceId, [counts]);
  const nodes = { receivedAtMs: 1n, json: JSON.stringify([nodeOf(randomUUID())]) };
  await storeNodes(database, spaceId, { sent: [nodes] });
  const uses = [{ receivedAtMs: BigInt(Date.now()), media: mediaOf({ id: 'a' }) }];
  await storeMedia(database, spaceId, uses);
  const refused = partOf(spaceId, [eventOf()]);
  await quarantineEvent(database, refused, { sqlstate: '23514', message: 'refused' });
  await sql`INSERT INTO erasures (space_id, subject, started_at, unwritten) VALUES (${spaceId}, 'user', now(), '{}')`;
  await trpc.erasures.request.mutate({ ...of, kind: 'user', value: 'nobody' });
  // Not due: run before the deletion continues, it would rewrite tables itself, and the receipt of the
  // deletion would not name them.
  await sql`UPDATE erasure_requests SET attempt_at = now() + interval '1 hour' WHERE space_id = ${spaceId}`;
  const { alertTargets, alertRules } = await addAlert(pipeline, spaceId);
  expect(alertTargets + alertRules).toBe(2);
  await trpc.notes.add.mutate({ ...of, notes: [{ threadId: 'later', label: 'a' }] });
  const view = { ...of, list: 'events', name: 'errors', address: '?state=error' } as const;
  for (const isOfSpace of [true, false]) await trpc.views.save.mutate({ ...view, isOfSpace });
  await foldStatistics(pipeline.database);
  expect(await tablesWith(pipeline, spaceId)).toEqual(
    expect.arrayContaining([
      'agent_stats',
      'alert_rules',
      'media',
      'media_uses',
      'notes',
      'quarantine',
      'senders',
      'sessions',
      'trace_nodes',
      'views',
    ]),
  );
  expect(await tablesWith(pipeline, other.spaceId)).not.toContain('events');

  // Only with its name. From then on it is refused to senders and readers, and a stream ends.
  const { apiKey: readKey } = await issueApiKey(database, spaceId, {
    name: 'reads',
    pepper: 'pepper-of-the-tests-only',
    scope: 'events',
  });
  const read = (path: string) =>
    fetch(`${dashboard.url}/trpc/${path}?input=${encodeURIComponent('{}')}`, {
      headers: { authorization: `Bearer ${readKey}` },
    });
  expect((await postEvents(pipeline, tenant, [eventOf()])).status).toBe(202);
  await expect(trpc.spaces.delete.mutate({ ...of, name: 'Test' })).rejects.toThrow('must be the name');
  const [stream, own] = [
    await read('live.tail'),
    await fetch(`${dashboard.url}/trpc/live.tail?input=${encodeURIComponent(JSON.stringify(of))}`, {
      headers: { cookie: owner.client.cookie ?? '' },
    }),
  ];
  const { deleteAt } = await trpc.spaces.delete.mutate({ ...of, name: 'test' });
  // By a notification, which takes less than a second where cores are free. Cached keys last for 30 s.
  const late = AbortSignal.timeout(15_000);
  expect(await stream.text()).toContain('UNAUTHORIZED');
  expect(await own.text()).toContain('FORBIDDEN');
  await until(async () => (await postEvents(pipeline, tenant, [eventOf()])).status === 401);
  expect(late.aborted).toBe(false);
  expect((await read('events.list')).status).toBe(401);
  expect(Date.parse(deleteAt ?? '') - Date.now()).toBeGreaterThan(86_000_000);
  await expect(trpc.events.list.query(of)).rejects.toThrow('will be deleted');
  const [asked] = (await trpc.me.query()).spaces.filter(({ id }) => id === spaceId);
  expect(asked?.deleteAt).toBe(deleteAt);

  // A day is not over: writers leave it alone. An owner takes it back.
  expect(await weir('space', 'deletions')).toMatchObject([{ spaceId, name: 'test', dueAt: deleteAt }]);
  await trpc.spaces.restore.mutate(of);
  await until(async () => (await postEvents(pipeline, tenant, [eventOf()])).status === 202);
  await until(async () => (await read('events.list')).status === 200);
  await expect(trpc.spaces.restore.mutate(of)).rejects.toThrow('not marked as deleted');
  await untilDrained(pipeline);
  const before = await countUsage(pipeline, spaceId);

  // Events that are in the queue when the deletion begins, in messages with those of others.
  await pipeline.writer.stop('SIGTERM');
  const queued = Array.from({ length: 5 }, () => eventOf());
  const [ours, theirs] = await Promise.all([
    postEvents(pipeline, tenant, queued),
    postEvents(pipeline, other, [eventOf(), eventOf()]),
  ]);
  expect([ours.status, theirs.status]).toEqual([202, 202]);
  expect(await weir('space', 'delete', spaceId)).toEqual({ isPreview: true, spaceId, name: 'test' });
  await weir('space', 'delete', spaceId, '--yes', '--now');
  const ambiguous = await runWeir(['space', 'restore', 'test'], pipeline.variables);
  expect(ambiguous).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('2 spaces') });

  // Begun while they are still in the queue, killed half-way, and continued by one of two writers.
  const first = fork(eraser, { stdio: 'ignore' });
  first.send(parseConfig(pipeline.variables));
  const exited = once(first, 'exit');
  await until(async () => {
    const rows = await countRows(pipeline, spaceId);
    return rows > 0 && rows < segments;
  });
  first.kill('SIGKILL');
  await exited;
  expect(await countRows(pipeline, spaceId)).toBeGreaterThan(0);
  expect((await runWeir(['space', 'restore', spaceId], pipeline.variables)).exitCode).toBe(1);
  const [third, fourth] = await Promise.all([pipeline.start('writer'), pipeline.start('writer')]);
  pipeline.writer = third;
  await using _fourth = fourth;
  const deletions = async () => (await weir('space', 'deletions')) as { completedAt: string | null }[];
  await until(async () => (await deletions())[0]?.completedAt != null, 60_000);
  expect(await tablesWith(pipeline, spaceId)).toEqual(kept);
  expect(await sql`SELECT action FROM audit_log WHERE space_id = ${spaceId} ORDER BY id`).toMatchObject(
    [
      'space.delete',
      'space.restore',
      'space.delete',
      'erasure.begin',
      'erasure.continue',
      'erasure.complete',
    ].map((action) => ({ action })),
  );
  const [usage] = await sql<{ events: number }[]>`
    SELECT sum(events)::integer AS events FROM usage_months WHERE space_id = ${spaceId}`;
  expect(usage?.events).toBe(before);
  const [{ receipt }] = (await deletions()) as unknown as [{ receipt: Record<string, unknown> }];
  expect(receipt).toMatchObject({
    subject: { space: 'test' },
    notReached: [],
    erased: { quarantineEvents: 1, media: 1 },
  });
  expect(receipt.rewrittenTables).toEqual(
    expect.arrayContaining([
      'event_ids',
      'invitations',
      'pg_statistic',
      'quarantine',
      'statistic_deltas',
      'trace_nodes',
    ]),
  );

  // Its events in the queue are dropped, and nothing of it is stored any more. Others have theirs.
  await untilDrained(pipeline);
  expect(await countRows(pipeline, other.spaceId)).toBe(2);
  expect(await insertParts(database, [partOf(spaceId, [eventOf(), eventOf()])])).toBe(0);
  await quarantineEvent(database, refused, { sqlstate: '23514', message: 'refused' });
  await recordSenders(database, spaceId, [counts]);
  await storeNodes(database, spaceId, { sent: [nodes] });
  await storeMedia(database, spaceId, [{ receivedAtMs: 1n, media: mediaOf({ id: 'b' }) }]);
  expect((await postEvents(pipeline, tenant, queued)).status).toBe(401);
  expect(await tablesWith(pipeline, spaceId)).toEqual(kept);
  expect((await trpc.me.query()).spaces.map(({ id }) => id)).not.toContain(spaceId);

  // A restore deletes it again. It is listed once, with the last receipt.
  await requestLostDeletions(database);
  await until(async () => (await database.$count(erasureRequests)) === 0, 60_000);
  const again = (await deletions()) as unknown as { spaceId: string; completedAt: string; receipt: object }[];
  expect(again).toMatchObject([{ spaceId, completedAt: expect.any(String) }]);
  expect(again[0]?.receipt).not.toEqual(receipt);
});

async function addAlert({ sql }: Pipeline, spaceId: string) {
  const [target] = await sql<{ id: string }[]>`
    INSERT INTO alert_targets (space_id, name, kind, address) VALUES (${spaceId}, 'hook', 'webhook', 'https://example.org') RETURNING id`;
  const rules = await sql`
    INSERT INTO alert_rules (space_id, name, kind, filter, comparison, bound, window_minutes, hold_minutes, target_ids, evaluated_until, due_at)
    VALUES (${spaceId}, 'quiet', 'silence', '{}', 'below', 1, 5, 0, ${`{${target?.id}}`}::uuid[], now(), now() + interval '1 hour')`;
  return { alertTargets: 1, alertRules: rules.count };
}
