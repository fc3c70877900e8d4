import { randomUUID } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { count, eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anyTerm, inSpace } from '../../event/terms.ts';
import { agedPart } from '../../harness/fixtures/aged-part.ts';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { mediaOf } from '../../harness/fixtures/media.ts';
import { bodyPart, partOf } from '../../harness/fixtures/part.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { ensurePartitions } from '../../store/db/partitions.ts';
import {
  auditLog,
  erasures,
  eventIds,
  eventStats,
  events,
  media,
  mediaUses,
  notes as notesTable,
  segments,
  traceNodes,
  usageMonths,
} from '../../store/db/schema.ts';
import { storeMedia } from '../../store/media/store-media.ts';
import type { NewNote } from '../../store/notes/note.ts';
import { storeNotes } from '../../store/notes/store-notes.ts';
import { readEventPage } from '../../store/read/event-page.ts';
import { expireData } from '../../store/retention/expire.ts';
import { RetentionClock } from '../../store/retention/retention-clock.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { messagesOf, toRequest } from '../../test/support/otlp/trace-messages.ts';
import { createDatabase, startNats } from '../../test/support/test-servers.ts';
import { type EraseOptions, ErasureRunningError, eraseEvents } from './erase.ts';
import { previewErasure } from './preview.ts';
import type { Subject } from './subject.ts';

const resources = new AsyncDisposableStack();
let sql: Sql;
/** A single connection, used to hold a lock. */
let session: Sql;
let database: Database;
let erasing: Database;
let nats: Awaited<ReturnType<typeof connectQueue>>;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const open = (connectionsMax: number) =>
    resources.use(openPostgres(url, { applicationName: 'test', connectionsMax, statementTimeoutMs: 60_000 }));
  [sql, session] = [open(4), open(1)];
  [database, erasing] = [openDatabase(open(4)), openDatabase(open(1))];
  const server = resources.use(await startNats());
  nats = resources.use(await connectQueue(server.url, 'test'));
});
afterAll(() => resources.disposeAsync());

const newSpace = async () => (await createSpace(database, 'test')).id;
const erase = (spaceId: string, subject: Subject, options: Partial<EraseOptions> = {}) =>
  eraseEvents({ database: erasing, connection: nats }, spaceId, { subject, ...options });
const ofUser = (value: string): Subject => ({ kind: 'user', value });
const eventOf = (userId: string, changes: object = {}) =>
  llmEvent({ context: { threadId: 'thread', userId }, ...changes });

/** The text of each event of a space, by event id. */
async function textsOf(spaceId: string): Promise<Map<string, string | undefined>> {
  const rows = await database
    .select({ id: events.id, segmentId: events.segmentId, segmentIndex: events.segmentIndex })
    .from(events)
    .where(eq(events.spaceId, spaceId));
  const texts = await readEventTexts(database, spaceId, rows);
  return new Map(rows.map(({ id }, i) => [id, texts[i]]));
}

async function countOf(table: typeof events | typeof segments | typeof eventIds, spaceId: string) {
  return (await database.select({ rows: count() }).from(table).where(eq(table.spaceId, spaceId)))[0]?.rows;
}

test('the events of a user are erased; all others stay byte for byte', async () => {
  const spaceId = await newSpace();
  const other = await newSpace();
  const sent = [
    eventOf('a'),
    eventOf('gone'),
    eventOf('b', { additionalProperties: { n: 1 } }),
    eventOf('gone'),
  ];
  // Unusual but valid JSON: white space, an integer beyond double precision, escapes, members around
  // `events`.
  const odd = `{ "secret-of-gone": "words", "events" : [ ${JSON.stringify(eventOf('c')).replace('"n":1', '"n":12345678901234567890')} ,
    ${JSON.stringify(eventOf('gone')).replace('"gone"', '"\\u0067one"').replace('"userId"', '"us\\u0065rId"')} , ${JSON.stringify(eventOf('d')).replace('Hello', 'H\\u00e9llo')} ] } `;
  const parts = [partOf(spaceId, sent), bodyPart(spaceId, odd), partOf(spaceId, [eventOf('gone')])];
  const foreign = partOf(other, [eventOf('gone')]);
  await insertParts(database, [...parts, foreign]);
  const before = await textsOf(spaceId);
  const kept = new Map([...before].filter(([, text]) => /"userId":"[abcd]"/.test(text ?? '')));
  expect([before.size, kept.size]).toEqual([8, 4]);

  expect(await previewErasure(database, spaceId, { subject: ofUser('gone') })).toEqual({
    events: 4,
    segments: 3,
    quarantineEvents: 0,
    from: '2025-10-09T08:53:20.000Z',
    to: '2025-10-09T08:53:20.000Z',
    isComplete: true,
  });
  expect(await textsOf(spaceId)).toEqual(before);
  const receipt = await erase(spaceId, ofUser('gone'), { reason: 'asked for' });
  expect(receipt.erased).toMatchObject({ events: 4, segmentsRewritten: 2, segmentsDeleted: 1 });
  expect(await textsOf(spaceId)).toEqual(kept);
  const bodies = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
  for (const { body, rawBytes } of bodies) {
    const text = zstdDecompressSync(body).toString();
    expect(Buffer.byteLength(text)).toBe(rawBytes);
    expect(text).not.toMatch(/gone|\\u0067/);
  }
  expect(await countOf(events, other)).toBe(1);
  expect((await erase(spaceId, ofUser('gone'))).erased).toMatchObject({ events: 0, segmentsRewritten: 0 });
});

test('ids, usage and statistics stay; an erased event that is sent again is neither stored nor billed', async () => {
  const spaceId = await newSpace();
  const [gone, kept] = [eventOf('gone'), eventOf('kept')];
  await insertParts(database, [partOf(spaceId, [gone, kept])]);
  const measured = async () => [
    await database.select().from(usageMonths).where(eq(usageMonths.spaceId, spaceId)),
    await database.select().from(eventStats).where(eq(eventStats.spaceId, spaceId)),
  ];
  await foldStatistics(database);
  const before = await measured();
  await erase(spaceId, ofUser('gone'));
  expect(await measured()).toEqual(before);
  expect(await insertParts(database, [partOf(spaceId, [gone])])).toBe(0);
  expect(await insertParts(database, [partOf(spaceId, [gone, kept])])).toBe(0);
  expect(await countOf(events, spaceId)).toBe(1);
  expect(await countOf(eventIds, spaceId)).toBe(2);
  expect(await measured()).toEqual(before);
});

test('a user is matched like the filter does: by the first characters of a long id, and by the column', async () => {
  const spaceId = await newSpace();
  const long = 'x'.repeat(300);
  const users = [long, `${long}y`, 'x'.repeat(255), 'X'.repeat(300), 'nul\0', 'nul\uFFFD', 'thread'];
  const sent = users.map((userId) => eventOf(userId));
  await insertParts(database, [partOf(spaceId, sent)]);
  const columns = { id: events.id, startTimeMs: events.startTimeMs };
  for (const user of [long, 'nul\0']) {
    const filter = { userId: user };
    const { rows } = await readEventPage(database, spaceId, { columns, filter, after: undefined, limit: 10 });
    const left = await textsOf(spaceId);
    await erase(spaceId, ofUser(user));
    for (const { id } of rows) left.delete(id);
    expect(rows).toHaveLength(2);
    expect(await textsOf(spaceId)).toEqual(left);
  }
});

test('a thread is erased, and so are events that started before a given time', async () => {
  const spaceId = await newSpace();
  const times = [1, 2, 3, 4].map((startTimeMs) =>
    llmEvent({ startTimeMs, context: { threadId: startTimeMs === 4 ? 'gone' : 'kept' } }),
  );
  await insertParts(database, [
    partOf(spaceId, times),
    partOf(
      spaceId,
      times.slice(0, 2).map((e) => ({ ...e, id: llmEvent().id })),
    ),
  ]);
  expect((await erase(spaceId, { kind: 'thread', value: 'gone' })).erased).toMatchObject({ events: 1 });
  const receipt = await erase(spaceId, { kind: 'before', timeMs: 3 });
  expect(receipt.erased).toMatchObject({ events: 4, segmentsRewritten: 1, segmentsDeleted: 1 });
  expect(receipt.subject).toEqual({ before: '1970-01-01T00:00:00.003Z' });
  expect([...(await textsOf(spaceId)).keys()]).toEqual([times[2]?.id]);
  const [segment] = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
  expect(segment).toMatchObject({ minStartMs: 3, maxStartMs: 3 });
});

test('segments with too many terms to index are searched too', async () => {
  const spaceId = await newSpace();
  const many = Array.from({ length: 60 }, (_, i) => [`key${i}`, i]);
  const wide = Array.from({ length: 200 }, (_, i) =>
    eventOf(i === 7 ? 'gone' : 'kept', {
      additionalProperties: Object.fromEntries(many.map(([key, n]) => [`${key}-${i}`, n])),
    }),
  );
  await insertParts(database, [partOf(spaceId, wide)]);
  const [stored] = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
  expect(stored?.terms).toEqual(inSpace(spaceId, [anyTerm]));
  expect((await erase(spaceId, ofUser('gone'))).erased).toMatchObject({ events: 1, segmentsRewritten: 1 });
});

test('events are erased from weekly and default partitions, and a receipt and audit rows record it', async () => {
  const spaceId = await newSpace();
  const astray = agedPart(spaceId, [eventOf('gone'), eventOf('kept')], 1);
  astray.segmentId = astray.segmentId.replace(/^..../, '7fff');
  const parts = [30, 9, 0].map((days) => agedPart(spaceId, [eventOf('gone'), eventOf('kept')], days));
  await insertParts(database, [...parts, astray]);
  await ensurePartitions(database, Date.now());
  const backupRetentionDays = 30;
  const receipt = await erase(spaceId, ofUser('gone'), { reason: 'ticket 7', backupRetentionDays });
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(receipt).toEqual({
    erasureId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    spaceId,
    subject: { user: 'gone' },
    reason: 'ticket 7',
    startedAt: time,
    completedAt: time,
    erased: {
      events: 4,
      segmentsRewritten: 4,
      segmentsDeleted: 0,
      quarantineEvents: 0,
      quarantineRewritten: 0,
      quarantineDeleted: 0,
      notes: 0,
      media: 0,
    },
    kept: ['ids (tombstones)', 'usage per month', 'statistics per minute'],
    rewrittenTables: expect.arrayContaining(['events_default', 'segments_default', 'pg_statistic']),
    forgotten: {
      queue: { at: time, from: expect.any(String) },
      wal: { at: time, from: expect.stringMatching(/archive_mode=off.*checkpoint_timeout=\d+s/) },
      backups: { at: time, from: 'BACKUP_RETENTION_DAYS=30' },
    },
    notReached: [],
  });
  expect(receipt.rewrittenTables).toHaveLength(9);
  const keepMs = Date.parse(receipt.forgotten.backups.at ?? '') - Date.parse(receipt.completedAt);
  expect(keepMs).toBe(30 * 24 * 60 * 60_000);
  expect(await countOf(events, spaceId)).toBe(4);
  const audit = await database.select().from(auditLog).where(eq(auditLog.spaceId, spaceId));
  expect(audit.slice(1)).toMatchObject([
    {
      actor: 'operator',
      action: 'erasure.begin',
      target: receipt.erasureId,
      details: { subject: 'user', reason: 'ticket 7' },
    },
    { actor: 'operator', action: 'erasure.complete', details: { events: 4, segmentsRewritten: 4 } },
  ]);
  // No audit row names the subject.
  expect(JSON.stringify(audit)).not.toContain('gone');
  const rows = await sql`SELECT erasures::text AS text FROM erasures WHERE space_id = ${spaceId}`;
  expect(JSON.stringify(rows)).not.toContain('gone');
  const { forgotten } = await erase(spaceId, ofUser('gone'));
  expect(forgotten.backups).toEqual({ at: null, from: expect.stringContaining('BACKUP_RETENTION_DAYS') });
});

test('an interrupted erasure resumes, and its counts cover both runs', async () => {
  const spaceId = await newSpace();
  const parts = Array.from({ length: 130 }, () => partOf(spaceId, [eventOf('gone'), ...someEvents(2)]));
  await insertParts(database, parts);
  const stop = new Error('stopped');
  const interrupted = erase(spaceId, ofUser('gone'), {
    report: () => {
      throw stop;
    },
  });
  await expect(interrupted).rejects.toBe(stop);
  const [row] = await database.select().from(erasures).where(eq(erasures.spaceId, spaceId));
  expect(row).toMatchObject({ events: 50, segmentsRewritten: 50, completedAt: null });
  expect(await countOf(events, spaceId)).toBe(340);
  const { erasureId, erased } = await erase(spaceId, ofUser('gone'));
  expect(erasureId).toBe(row?.id);
  expect(erased).toMatchObject({ events: 130, segmentsRewritten: 130 });
  expect(await countOf(events, spaceId)).toBe(260);
});

test('a second erasure in the same space is refused while one runs', async () => {
  const spaceId = await newSpace();
  await session`SELECT pg_advisory_lock(7394213, hashtext(${spaceId}))`;
  await expect(erase(spaceId, ofUser('gone'))).rejects.toThrow(ErasureRunningError);
  await session`SELECT pg_advisory_unlock(7394213, hashtext(${spaceId}))`;
  await erase(spaceId, ofUser('gone'));
});

test('concurrent retention and erasure leave no event without its segment and nothing that either deletes', async () => {
  const { id: spaceId } = await createSpace(database, 'test', { retentionDays: 7 });
  const aged = (days: number) => agedPart(spaceId, [eventOf('gone'), eventOf('kept')], days);
  const parts = Array.from({ length: 300 }, (_, i) => aged(i % 2 === 0 ? 20 : 1));
  await insertParts(database, [...parts, agedPart(await newSpace(), someEvents(2), 20)]);
  await ensurePartitions(database, Date.now());
  const [receipt] = await Promise.all([
    erase(spaceId, ofUser('gone')),
    expireData(openDatabase(session), {
      retentionDaysMax: undefined,
      nowMs: Date.now(),
      clock: new RetentionClock(),
    }),
  ]);
  await expireData(openDatabase(session), {
    retentionDaysMax: undefined,
    nowMs: Date.now(),
    clock: new RetentionClock(),
  });
  expect(receipt.erased.events).toBeGreaterThanOrEqual(150);
  expect(await countOf(events, spaceId)).toBe(150);
  expect(await countOf(segments, spaceId)).toBe(150);
  const texts = [...(await textsOf(spaceId)).values()];
  for (const text of texts) expect(text).toContain('"userId":"kept"');
  expect(texts).toHaveLength(150);
});

test('notes are erased with their event, and with the last event of their trace or thread', async () => {
  const spaceId = await newSpace();
  const [first, second] = [randomUUID(), randomUUID()];
  const ofThread = (threadId: string, userId: string, traceId: string) =>
    llmEvent({ traceId, context: { threadId, userId } });
  const sent = [
    ofThread('shared', 'gone', first),
    ofThread('shared', 'kept', second),
    ofThread('own', 'gone', first),
  ];
  await insertParts(database, [partOf(spaceId, sent)]);
  const [gone = '', kept = ''] = sent.map(({ id }) => String(id));
  const on = (target: NewNote['target'], targetId = '') => ({
    id: randomUUID(),
    target,
    targetId,
    label: targetId,
  });
  const notes = [
    ...[on('event', gone), on('event', kept), on('event', randomUUID())],
    ...[
      on('trace', first),
      on('trace', second),
      on('thread', 'shared'),
      on('thread', 'own'),
      on('thread', 'later'),
    ],
  ];
  const author = { author: 'key', authorId: randomUUID() } as const;
  expect(await storeNotes(database, spaceId, { notes, ...author, createdAt: new Date() })).toEqual([]);
  const { erased, rewrittenTables } = await erase(spaceId, ofUser('gone'));
  expect(erased).toMatchObject({ events: 2, notes: 3 });
  expect(rewrittenTables).toContain('notes');
  const left = await database.select().from(notesTable).where(eq(notesTable.spaceId, spaceId));
  const without = new Set([gone, first, 'own']);
  expect(left.map(({ id }) => id).toSorted()).toEqual(
    notes.flatMap(({ id, targetId }) => (without.has(targetId) ? [] : id)).toSorted(),
  );
  // A thread without events, too.
  expect((await erase(spaceId, { kind: 'thread', value: 'later' })).erased).toMatchObject({
    events: 0,
    notes: 1,
  });
  // An event that was erased gets no notes any more.
  expect(
    await storeNotes(database, spaceId, { notes: notes.slice(0, 1), ...author, createdAt: new Date() }),
  ).toEqual([notes[0]?.id]);
});

test('notes on spans are erased before their trace is resolved, and those that come after its events were erased', async () => {
  const spaceId = await newSpace();
  const [waiting, late, shared] = [randomUUID(), randomUUID(), randomUUID()];
  const ofUsers = [eventOf('gone', { traceId: waiting }), eventOf('kept', { traceId: shared })];
  await insertParts(database, [partOf(spaceId, ofUsers)]);
  const eventId = randomUUID();
  const nodes = [late, shared].map((traceId) => ({
    ...{ spaceId, traceId, spanId: 'a', userId: 'gone', receivedAt: new Date() },
    ...({ kind: 'llm', state: 'ok', startTimeMs: 1, endTimeMs: 2 } as const),
    eventId: traceId === late ? eventId : String(ofUsers[1]?.id),
  }));
  await database.insert(traceNodes).values(nodes);
  const on = (label: string, note: Pick<NewNote, 'target' | 'targetId' | 'span'>) => ({
    ...{ id: randomUUID(), label },
    ...note,
  });
  const spanOf = (traceId: string) => ({ traceId, spanId: 'b' });
  const notes = [
    on('waits', { target: 'event', targetId: randomUUID(), span: spanOf(waiting) }),
    on('event', { target: 'event', targetId: eventId }),
    on('trace', { target: 'trace', targetId: late }),
    on('kept trace', { target: 'trace', targetId: shared }),
    on('kept event', { target: 'event', targetId: String(ofUsers[1]?.id) }),
    on('kept span', { target: 'event', targetId: randomUUID(), span: spanOf(shared) }),
  ];
  const author = { author: 'key', authorId: randomUUID() } as const;
  expect(await storeNotes(database, spaceId, { notes, ...author, createdAt: new Date() })).toEqual([]);
  const { erased, rewrittenTables } = await erase(spaceId, ofUser('gone'));
  expect(erased).toMatchObject({ events: 1, notes: 3 });
  expect(rewrittenTables).toContain('notes');
  const left = await database.select().from(notesTable).where(eq(notesTable.spaceId, spaceId));
  expect(left.map(({ label }) => label).toSorted()).toEqual(['kept event', 'kept span', 'kept trace']);
});

test('media are erased with the event that alone uses them, and those of other spans with the last event', async () => {
  const spaceId = await newSpace();
  const [ofGone, mixed] = [randomUUID(), randomUUID()];
  const sent = [
    eventOf('gone', { traceId: ofGone }),
    eventOf('gone', { traceId: mixed }),
    eventOf('kept', { traceId: mixed }),
  ];
  await insertParts(database, [partOf(spaceId, sent)]);
  const [alone, beside, kept] = sent.map(({ id }) => String(id));
  const uses = [
    ['alone', ofGone, alone],
    ['shared', ofGone, alone],
    ['of a span', ofGone, randomUUID()],
    ['of a trace', ofGone, ''],
    ['beside', mixed, beside],
    ['kept', mixed, kept],
    ['shared', mixed, kept],
    ['of the other trace', mixed, ''],
  ].map(([id = '', traceId = '', eventId = '']) => ({
    receivedAtMs: BigInt(Date.now()),
    media: mediaOf({ id, traceId, eventId }),
  }));
  expect(await storeMedia(database, spaceId, uses)).toBe(0);
  const { erased, rewrittenTables } = await erase(spaceId, ofUser('gone'));
  expect(erased).toMatchObject({ events: 2, media: 4 });
  expect(rewrittenTables).toEqual(expect.arrayContaining(['media', 'media_uses']));
  const left = async () => {
    const rows = await database.select({ id: media.id }).from(media).where(eq(media.spaceId, spaceId));
    return rows.map(({ id }) => id).toSorted();
  };
  const others = ['kept', 'of the other trace', 'shared'];
  expect(await left()).toEqual(others);
  expect(await database.$count(mediaUses, eq(mediaUses.spaceId, spaceId))).toBe(3);
  // Not by a redelivery, either; and a use of what is gone is refused.
  expect(await storeMedia(database, spaceId, uses)).toBe(0);
  expect(await left()).toEqual(others);
  const late = mediaOf({ id: 'alone', traceId: mixed, eventId: '' });
  expect(
    await storeMedia(database, spaceId, [{ receivedAtMs: 1n, media: { ...late, data: new Uint8Array() } }]),
  ).toBe(1);
  expect(await left()).toEqual(others);
});

test('media are erased with the event into which that of their span was merged, also of another trace', async () => {
  const spaceId = await newSpace();
  const [traceId, other] = [randomUUID(), randomUUID()];
  const sent = [eventOf('gone', { traceId: other }), eventOf('kept', { traceId })];
  await insertParts(database, [partOf(spaceId, sent)]);
  const eventId = randomUUID();
  await database.insert(traceNodes).values({
    ...{ spaceId, traceId, spanId: 'a', receivedAt: new Date(), kind: 'llm', state: 'ok' },
    ...{ startTimeMs: 1, endTimeMs: 2, eventId, removedEventId: eventId, mergedEventId: String(sent[0]?.id) },
  });
  const use = { receivedAtMs: BigInt(Date.now()), media: mediaOf({ id: 'merged', traceId, eventId }) };
  await storeMedia(database, spaceId, [use]);
  expect((await erase(spaceId, ofUser('kept'))).erased).toMatchObject({ events: 1, media: 0 });
  expect((await erase(spaceId, ofUser('gone'))).erased).toMatchObject({ events: 1, media: 1 });
});

test('an event is erased into which more spans were merged than a statement may have parameters', async () => {
  const spaceId = await newSpace();
  const traceId = randomUUID();
  const event = eventOf('gone', { traceId });
  await insertParts(database, [partOf(spaceId, [event])]);
  await sql`
    INSERT INTO trace_nodes (space_id, trace_id, span_id, received_at, kind, state, start_time_ms, end_time_ms, merged_event_id, removed_event_id)
    SELECT ${spaceId}, ${traceId}, n, now(), 'llm', 'ok', 1, 2, ${String(event.id)}, gen_random_uuid() FROM generate_series(1, 66000) AS n`;
  expect((await erase(spaceId, ofUser('gone'))).erased).toMatchObject({ events: 1 });
});

test('an event is erased with the user of a span above it, which no writer has related to it yet', async () => {
  const spaceId = await newSpace();
  const traceId = '5'.repeat(32);
  const [above, call] = ['a'.repeat(16), 'b'.repeat(16)];
  const spans = [
    { traceId, spanId: call, parentSpanId: above, attributes: { 'gen_ai.operation.name': 'chat' } },
    { traceId, spanId: above, attributes: { 'gen_ai.operation.name': 'invoke_agent', 'user.id': 'gone' } },
  ];
  for (const span of spans)
    for (const message of messagesOf(toRequest([{ span, library: 'framework' }])))
      await message(database, spaceId);
  expect((await erase(spaceId, ofUser('gone'))).erased).toMatchObject({ events: 1 });
  expect(await database.$count(events, eq(events.spaceId, spaceId))).toBe(0);
});
