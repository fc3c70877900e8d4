import { randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { expect, test } from 'vitest';
import { llmEvent, someEvents, toolEvent } from '../../harness/fixtures/events.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { firstStream, firstWorkQueue } from '../../platform/queue/settings.ts';
import { relayControlChanges } from '../../store/control/relay.ts';
import { startReplay } from '../../store/queue-state/replay.ts';
import { keepStoredCounts } from '../../store/queue-state/stored-counts.ts';
import { readStoredPositions, recordStoredPosition } from '../../store/queue-state/stored-positions.ts';
import { readStreamState } from '../../store/queue-state/stream-state.ts';
import { runWeir } from '../support/cli/command-line.ts';
import { postEvents } from '../support/http.ts';
import { useProcessPipeline } from '../support/use-pipeline.ts';
import { countRows, countUsage, until, untilDrained } from '../support/wait.ts';

const bytesMax = 24_000_000;
const { pipeline, tenant } = useProcessPipeline({ variables: { QUEUE_BYTES_MAX: String(bytesMax) } });

/** Everything that counts events, for all spaces. */
async function readCounts() {
  const [row] = await pipeline.sql`
    SELECT (SELECT count(*)::integer FROM events) AS events, (SELECT count(*)::integer FROM event_ids) AS ids,
      (SELECT count(*)::integer FROM segments) AS segments, (SELECT sum(events)::integer FROM usage_months) AS usage,
      (SELECT sum(events)::integer FROM usage_days) AS days, (SELECT sum(repeats)::integer FROM usage_days) AS repeats,
      (
        SELECT sum(events)::integer FROM (SELECT events FROM event_stats UNION ALL SELECT events FROM statistic_deltas) AS counted
      ) AS stats,
      (SELECT count(*)::integer FROM quarantine) AS quarantined`;
  return row;
}

async function replayAll() {
  await pipeline.writer.stop('SIGKILL');
  await using nats = await connectQueue(pipeline.nats.url, 'test');
  const [replay] = await startReplay(nats, pipeline.database, new Date(0));
  pipeline.writer = await pipeline.start('writer');
  await untilDrained(pipeline);
  return replay;
}

test('a replay of the whole window stores, counts and bills nothing twice, and brings back nothing that was erased or has expired', async () => {
  const expired = await pipeline.createTenant();
  const ofUser = (userId: string) => llmEvent({ context: { userId } });
  const batches = Array.from({ length: 12 }, () => [ofUser('gone'), ofUser('kept'), ofUser('kept')]);
  for (const batch of batches) expect((await postEvents(pipeline, tenant, batch)).status).toBe(202);
  // A repeat of all, and one that is mixed with new events.
  await postEvents(pipeline, tenant, batches.flat());
  await untilDrained(pipeline);
  await postEvents(pipeline, tenant, [...(batches[0] ?? []), ofUser('kept')]);
  await postEvents(pipeline, expired, [ofUser('kept'), ofUser('kept')]);
  await untilDrained(pipeline);

  const erase = await runWeir(
    ['erase', '--space', tenant.spaceId, '--user', 'gone', '--yes'],
    pipeline.variables,
  );
  const { erased, forgotten, startedAt } = JSON.parse(erase.stdout);
  expect(erased.events).toBe(12);
  const hours = (Date.parse(forgotten.queue.at) - Date.parse(startedAt)) / 3_600_000;
  expect(hours).toBeGreaterThan(25);
  expect(hours).toBeLessThan(26);
  // What retention does: the ledger stays.
  await pipeline.sql`DELETE FROM events WHERE space_id = ${expired.spaceId}`;
  await pipeline.sql`DELETE FROM segments WHERE space_id = ${expired.spaceId}`;
  const before = await readCounts();

  const replay = await replayAll();
  expect(replay).toMatchObject({ fromSequence: 1, missing: undefined });
  expect(replay?.messages).toBeGreaterThanOrEqual(15);
  expect(await readCounts()).toEqual(before);
  expect(await countRows(pipeline, expired.spaceId)).toBe(0);
  expect(await countUsage(pipeline, expired.spaceId)).toBe(2);
});

test('the window takes half of the bytes at most: ingest answers no 503 for it, and a writer killed at any time loses nothing', async () => {
  await using nats = await connectQueue(pipeline.nats.url, 'test');
  const manager = await jetstreamManager(nats);
  const other = await pipeline.createTenant();
  let sent = 0;
  const statuses = new Set<number>();
  // Three times what the stream holds.
  for (let round = 0; round < 12; round++) {
    for (let batch = 0; batch < 20; batch++) {
      const output = randomBytes(225_000).toString('base64');
      const event = toolEvent({ properties: { tool: { name: 'read', input: {}, output } } });
      statuses.add((await postEvents(pipeline, other, [event])).status);
      sent += 1;
    }
    if (round % 4 !== 3) continue;
    await pipeline.writer.stop('SIGKILL');
    pipeline.writer = await pipeline.start('writer');
  }
  expect([...statuses]).toEqual([202]);
  await untilDrained(pipeline);
  expect(await countRows(pipeline, other.spaceId)).toBe(sent);
  await until(async () => {
    const state = await readStreamState(manager, firstStream);
    return state !== undefined && state.firstSequence > 1 && state.bytes <= state.bytesMax / 2;
  });
  const { stdout } = await runWeir(['queue'], pipeline.variables);
  expect(JSON.parse(stdout)).toMatchObject({
    stream: firstStream.name,
    pending: 0,
    bytesMax,
    windowHoursMax: 25,
    windowFrom: expect.any(String),
  });
});

test('weir replay names the messages, the minutes and the number of events that neither the restored database nor the queue has, again and again', async () => {
  const { database, sql } = pipeline;
  await using nats = await connectQueue(pipeline.nats.url, 'test');
  const manager = await jetstreamManager(nats);
  const own = await pipeline.createTenant();
  const send = async (events: number) => {
    expect((await postEvents(pipeline, own, someEvents(events))).status).toBe(202);
    await untilDrained(pipeline);
  };
  const readState = async () => {
    const state = await readStreamState(manager, firstStream);
    if (state === undefined) throw new Error('no stream');
    return state;
  };
  await send(3);
  await keepStoredCounts(database, manager, 0);
  // Stored before the restored time, and not counted yet.
  await send(2);
  const restored = await readState();
  const restoredTo = new Date().toISOString();
  await send(5);
  await send(7);
  const { lastSequence } = await readState();
  await keepStoredCounts(database, manager, 0);
  await send(11);
  await pipeline.writer.stop('SIGTERM');
  await relayControlChanges(database, nats);
  // What a database that is restored to that time lacks.
  const isLater = sql`queue_stream = ${firstStream.name} AND queue_sequence > ${restored.lastSequence}`;
  await sql`DELETE FROM event_ids WHERE id IN (SELECT e.id FROM events AS e JOIN segments AS s ON s.id = e.segment_id WHERE ${isLater})`;
  await sql`DELETE FROM events WHERE segment_id IN (SELECT id FROM segments WHERE ${isLater})`;
  await sql`DELETE FROM space_commits WHERE segment_ids && ARRAY(SELECT id FROM segments WHERE ${isLater})`;
  await sql`DELETE FROM segments WHERE ${isLater}`;
  await sql`DELETE FROM queue_counts WHERE stored_up_to > ${restored.lastSequence}`;
  await recordStoredPosition(database, restored, 3_600_000);
  await manager.streams.purge(firstStream.name, { seq: lastSequence + 1 });

  const { updatedAt } = (await readStoredPositions(database))[0] ?? {};
  const { firstAt } = await readState();
  const lost =
    `${firstStream.name} no longer has 2 messages (${lastSequence - 1} to ${lastSequence}) that were accepted between ` +
    `${updatedAt?.toISOString()} and ${firstAt?.toISOString()}. Events of them that were stored after ${updatedAt?.toISOString()} are lost: 12 events.`;
  // Called again after it was interrupted, it names the same.
  for (let run = 0; run < 2; run++) {
    const { exitCode, stdout, stderr } = await runWeir(['replay', '--since', restoredTo], pipeline.variables);
    expect(stderr).toContain(`LOST: ${lost}\n`);
    expect(JSON.parse(stdout).lost).toEqual([lost]);
    expect(exitCode).toBe(0);
  }
  pipeline.writer = await pipeline.start('writer');
  await untilDrained(pipeline);
  expect(await countRows(pipeline, own.spaceId)).toBe(3 + 2 + 11);
});

test('a writer reads the streams that an ingest begins to use while it runs', async () => {
  const other = await pipeline.createTenant();
  await pipeline.ingest.stop('SIGTERM');
  pipeline.ingest = await pipeline.start('ingest', { REPLAY_WINDOW_HOURS: '0' });
  const url = pipeline.ingest.ready.url ?? '';
  expect((await postEvents({ ...pipeline, url }, other, someEvents(5))).status).toBe(202);
  await until(async () => (await countRows(pipeline, other.spaceId)) === 5);
  const { stdout } = await runWeir(['queue'], pipeline.variables);
  const streams = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(streams).toMatchObject([
    { stream: firstWorkQueue.name, messages: 0, lastSequence: 1, bytesMax: bytesMax / 2 },
    { stream: firstStream.name, bytesMax: bytesMax / 2 },
  ]);
});
