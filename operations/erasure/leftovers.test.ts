import { zstdDecompressSync } from 'node:zlib';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { quarantine, segments } from '../../store/db/schema.ts';
import { storeParts } from '../../store/write/store.ts';
import { createDatabase, startNats } from '../../test/support/test-servers.ts';
import { eraseEvents } from './erase.ts';
import type { Subject } from './subject.ts';

const resources = new AsyncDisposableStack();
let sql: Sql;
let database: Database;
let erasing: Database;
let nats: Awaited<ReturnType<typeof connectQueue>>;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const open = (connectionsMax: number) =>
    resources.use(openPostgres(url, { applicationName: 'test', connectionsMax, statementTimeoutMs: 60_000 }));
  sql = open(4);
  [database, erasing] = [openDatabase(sql), openDatabase(open(1))];
  nats = resources.use(await connectQueue(resources.use(await startNats()).url, 'test'));
});
afterAll(() => resources.disposeAsync());

const newSpace = async () => (await createSpace(database, 'test')).id;
const before2000: Subject = { kind: 'before', timeMs: 2_000 };
const word = 'xiphoid';
const withWord = (changes: object) => llmEvent({ ...changes, additionalProperties: { word } });

/** Erases, then reads every text that is left in segments and in quarantine. */
async function textsAfter(spaceId: string, subject: Subject): Promise<string> {
  const { notReached } = await eraseEvents({ database: erasing, connection: nats }, spaceId, { subject });
  expect(notReached).toEqual([]);
  return readTexts(spaceId);
}

async function readTexts(spaceId: string): Promise<string> {
  const stored = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
  const entries = await database.select().from(quarantine).where(eq(quarantine.spaceId, spaceId));
  return [
    ...stored.map(({ body }) => zstdDecompressSync(body).toString()),
    ...entries.map(({ part }) => part.toString('latin1')),
  ].join('\n');
}

test('a duplicate sent together with a later event leaves no text', async () => {
  const spaceId = await newSpace();
  const x = withWord({ startTimeMs: 1_000 });
  const y = llmEvent({ startTimeMs: 5_000 });
  await storeParts(database, [partOf(spaceId, [x])]);
  await storeParts(database, [partOf(spaceId, [x, y])]);
  const left = await textsAfter(spaceId, before2000);
  expect(left).not.toContain(word);
  expect(left).toContain(JSON.stringify(y));
});

test('the second event with the same id in a request leaves no text', async () => {
  const spaceId = await newSpace();
  const kept = llmEvent({ startTimeMs: 5_000 });
  const repeated = { ...withWord({ startTimeMs: 1_000 }), id: kept.id };
  await storeParts(database, [partOf(spaceId, [kept, repeated])]);
  const left = await textsAfter(spaceId, before2000);
  expect(left).not.toContain(word);
  expect(left).toContain(JSON.stringify(kept));
});

test('the text of an event in quarantine is not in the segment of the other events of its request', async () => {
  const spaceId = await newSpace();
  await sql`ALTER TABLE events ADD CONSTRAINT poison CHECK (name <> 'poison')`;
  const poison = withWord({ startTimeMs: 1_000, properties: { llm: { model: 'poison' } } });
  const sent = [llmEvent({ startTimeMs: 5_000 }), poison, llmEvent({ startTimeMs: 6_000 })];
  expect(await storeParts(database, [partOf(spaceId, sent)])).toMatchObject({ inserted: 2, quarantined: 1 });
  await sql`ALTER TABLE events DROP CONSTRAINT poison`;
  const left = await textsAfter(spaceId, before2000);
  expect(left).not.toContain(word);
  expect(left).toContain(JSON.stringify(sent[0]));
  expect(left).toContain(JSON.stringify(sent[2]));
});

test('an event queued twice, the second time together with a new event, leaves no text', async () => {
  const spaceId = await newSpace();
  const x = withWord({ context: { userId: 'gone' } });
  const y = llmEvent({ context: { userId: 'kept' } });
  // The writer looks for known ids only in spaces that had an erasure.
  const gone: Subject = { kind: 'user', value: 'gone' };
  await eraseEvents({ database: erasing, connection: nats }, spaceId, { subject: gone });
  await storeParts(database, [partOf(spaceId, [x]), partOf(spaceId, [x, y])]);
  // The text of x exists only in the segment that has the row of x.
  const stored = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
  const bodies = stored.map(({ body }) => zstdDecompressSync(body).toString());
  expect(bodies.filter((body) => body.includes(word))).toHaveLength(1);
  expect(await textsAfter(spaceId, gone)).not.toContain(word);
});
