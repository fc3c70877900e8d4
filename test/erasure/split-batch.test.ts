import { randomBytes } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { cutEvents } from '../../event/segment/cut.ts';
import { compileBatchRules } from '../../event/validate.ts';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { eraseEvents } from '../../operations/erasure/erase.ts';
import { openLog } from '../../platform/log.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { decodeGroup, type Part } from '../../platform/queue/group.ts';
import { Committer } from '../../services/ingest/commit/committer.ts';
import { compressBatch } from '../../services/ingest/commit/compressed-batch.ts';
import { unlimited } from '../../services/ingest/read/batch-reader.ts';
import { createJsonBatchReader } from '../../services/ingest/read/json-batch-reader.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { events, segments } from '../../store/db/schema.ts';
import { storeParts } from '../../store/write/store.ts';
import { createDatabase, startNats } from '../support/test-servers.ts';

const readBatch = createJsonBatchReader(compileBatchRules('weir'), unlimited);

/** Enough for the compressed body, but not for all columns too. */
const messageBytesMax = 200_000;

/** The parts that ingest queues for a batch that does not fit into one message, by message. */
async function queuedParts(spaceId: string, sent: readonly object[]): Promise<Part[][]> {
  const body = Buffer.from(JSON.stringify({ events: sent }));
  const access = { keyId: spaceId, spaceId, billingState: 'active', monthlyEventLimit: null } as const;
  const messages: Part[][] = [];
  const publish = async (payload: Uint8Array) => {
    messages.push(decodeGroup(payload).parts);
    return { stream: 'queue', sequence: messages.length };
  };
  const committer = new Committer(publish, messageBytesMax, openLog('test', { LOG_LEVEL: 'silent' }));
  await committer.commit(await compressBatch(access, readBatch(body).projection, { body, atMs: Date.now() }));
  return messages;
}

const eventOf = (userId: string) =>
  llmEvent({
    context: { userId },
    additionalProperties: { note: 'n'.repeat(600) },
    properties: {
      llm: {
        model: 'm',
        input: { prompt: `of ${userId}` },
        output: { response: randomBytes(3_000).toString('base64') },
      },
    },
  });

test.each([
  { name: 'only its events', isGone: (i: number) => i < 30 },
  { name: 'some of its events', isGone: (i: number) => i % 2 === 0 },
])(
  'an erasure between the messages of one batch, the first of which has $name, leaves no text',
  async ({ isGone }) => {
    await using backing = await createDatabase();
    const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 60_000 };
    await using sql = openPostgres(backing.url, options);
    const database = openDatabase(sql);
    await using server = await startNats();
    await using nats = await connectQueue(server.url, 'test');
    const { id: spaceId } = await createSpace(database, 'test');
    const sent = Array.from({ length: 60 }, (_, i) => eventOf(isGone(i) ? 'gone' : 'kept'));
    const [first = [], ...others] = await queuedParts(spaceId, sent);
    expect(others.length).toBeGreaterThan(0);
    await storeParts(database, first);
    const { erased } = await eraseEvents({ database, connection: nats }, spaceId, {
      subject: { kind: 'user', value: 'gone' },
    });
    expect(erased.events).toBeGreaterThan(0);
    for (const parts of others) await storeParts(database, parts);
    // The first message is redelivered, as after a crash: its ids are known.
    await storeParts(database, first);

    const stored = await database.select().from(segments).where(eq(segments.spaceId, spaceId));
    const rows = await database.select().from(events).where(eq(events.spaceId, spaceId));
    const textOf = new Map(sent.map((event) => [event.id, JSON.stringify(event)]));
    // Each row has its text, and there is no text without a row.
    let texts = 0;
    for (const { id, body, eventCount } of stored) {
      const raw = zstdDecompressSync(body);
      const own = rows.filter(({ segmentId }) => segmentId === id);
      const cut = cutEvents(raw, [...sent.keys()]);
      for (const row of own) expect(cut.get(row.segmentIndex) === textOf.get(row.id)).toBe(true);
      expect(own).toHaveLength(eventCount);
      texts += [...cut.values()].filter((text) => text !== '0').length;
    }
    expect(texts).toBe(rows.length);
    expect(rows.filter(({ userId }) => userId === 'kept')).toHaveLength(30);
    const firstIds = new Set(first.flatMap((part) => part.columns?.id.split(',') ?? []));
    expect(rows.filter(({ id, userId }) => firstIds.has(id) && userId === 'gone')).toEqual([]);
  },
);
