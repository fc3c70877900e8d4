import { randomUUID } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { eq, is, sql as query } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cutEvents } from '../../event/segment/cut.ts';
import { compileBatchRules } from '../../event/validate.ts';
import { eraseEvents } from '../../operations/erasure/erase.ts';
import type { EventsSubject } from '../../operations/erasure/subject.ts';
import { parseConfig } from '../../platform/config.ts';
import { openLog } from '../../platform/log.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { decodePart } from '../../platform/queue/group.ts';
import { SequenceGuard } from '../../platform/queue/sequence-guard.ts';
import { firstStream } from '../../platform/queue/settings.ts';
import { ensureStreams } from '../../platform/queue/stream.ts';
import { createStreamPublisher } from '../../platform/queue/stream-publisher.ts';
import { Committer } from '../../services/ingest/commit/committer.ts';
import { compressBatch } from '../../services/ingest/commit/compressed-batch.ts';
import { unlimited } from '../../services/ingest/read/batch-reader.ts';
import { createJsonBatchReader } from '../../services/ingest/read/json-batch-reader.ts';
import { startDelivery } from '../../services/writer/delivery.ts';
import { startStoreWorkers } from '../../services/writer/store-workers.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import * as schema from '../../store/db/schema.ts';
import { countQueued, readWatermarks } from '../../store/queue-state/watermark.ts';
import { replayQuarantined } from '../../store/write/replay.ts';
import { createDatabase, startNats } from '../support/test-servers.ts';
import { until } from '../support/wait.ts';
import { type RandomEvent, randomRequests, randomSubject, SentText } from './random-requests.ts';

const resources = new AsyncDisposableStack();
const log = openLog('test', { LOG_LEVEL: 'silent' });
const readBatch = createJsonBatchReader(compileBatchRules('weir'), unlimited);
/** Enough for one large event but not for two. */
const messageBytesMax = 78_000;
const { events, segments, quarantine, eventIds } = schema;
let sql: Sql;
let database: Database;
let erasing: Database;
let nats: Awaited<ReturnType<typeof connectQueue>>;
let committer: Committer;
beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const open = (connectionsMax: number) =>
    resources.use(openPostgres(url, { applicationName: 'test', connectionsMax, statementTimeoutMs: 60_000 }));
  sql = open(4);
  [database, erasing] = [openDatabase(sql), openDatabase(open(1))];
  const server = resources.use(await startNats());
  nats = resources.use(await connectQueue(server.url, 'test'));
  await ensureStreams(
    nats,
    parseConfig({ NATS_MONITOR_URL: server.monitorUrl, QUEUE_BYTES_MAX: '10000000' }),
  );
  const publish = createStreamPublisher(nats, new SequenceGuard(() => {}), firstStream);
  committer = new Committer(
    async (payload, messageId) => ({ stream: firstStream.name, sequence: await publish(payload, messageId) }),
    messageBytesMax,
    log,
  );
});
afterAll(() => resources.disposeAsync());

interface Erasure {
  readonly subject: EventsSubject;
  /** The ids stored at its start, and the number of sends until then. */
  readonly known: ReadonlySet<string>;
  readonly sends: number;
}

/** The history of one space: what was sent and what was erased. */
class Run {
  readonly #spaceId: string;
  readonly #ids = Array.from({ length: 10 }, () => randomUUID());
  readonly #sends: SentText[] = [];
  readonly #erasures: Erasure[] = [];

  constructor(spaceId: string) {
    this.#spaceId = spaceId;
  }

  /**
   * Sends requests concurrently, as ingest does: small ones share a segment, a large one takes several
   * messages.
   */
  async send(requests: readonly (readonly RandomEvent[])[]): Promise<void> {
    const principal = {
      keyId: this.#spaceId,
      spaceId: this.#spaceId,
      billingState: 'active' as const,
      monthlyEventLimit: null,
    };
    const batches = requests.map((request, at) => {
      const texts = request.map((random) => this.#textOf(random));
      this.#sends.push(...texts);
      const sent = texts.map(({ event }) => event);
      // Some bodies have further members besides `events`.
      return Buffer.from(JSON.stringify(at % 2 === 0 ? { events: sent } : { events: sent, note: sent }));
    });
    await Promise.all(
      batches.map(async (bytes) => {
        const { projection, body = bytes } = readBatch(bytes);
        await committer.commit(await compressBatch(principal, projection, { body, atMs: Date.now() }));
      }),
    );
  }

  #textOf(random: RandomEvent): SentText {
    const id = this.#ids[random.id] ?? '';
    const earlier = this.#sends.findLast((text) => text.id === id);
    return random.isCopy && earlier !== undefined ? earlier : new SentText(id, random);
  }

  /**
   * Erases, and sends requests after its start. The writer runs from the beginning, or only afterwards if it
   * is lagging.
   */
  async erase(subject: EventsSubject, later: Parameters<Run['send']>[0], isLagging: boolean): Promise<void> {
    await using stack = new AsyncDisposableStack();
    if (!isLagging) stack.use(runWriter());
    const rows = await database.select().from(eventIds).where(eq(eventIds.spaceId, this.#spaceId));
    this.#erasures.push({ subject, known: new Set(rows.map(({ id }) => id)), sends: this.#sends.length });
    const started = Promise.withResolvers<void>();
    const report = (text: string) => text.startsWith('waiting') && started.resolve();
    const erased = eraseEvents({ database: erasing, connection: nats }, this.#spaceId, { subject, report });
    await Promise.race([started.promise, erased]);
    await this.send(later);
    if (isLagging) stack.use(runWriter());
    expect((await erased).notReached).toEqual([]);
  }

  async check(): Promise<void> {
    const tables = await readTables();
    const kept = await this.#readTexts();
    const bodies = kept.join('\n');
    for (const [at, text] of this.#sends.entries()) {
      if (this.#isErased(text)) expect(`${tables}${bodies}`.includes(text.word)).toBe(false);
      // Texts that no erasure covers, or that were first sent after it, are stored byte for byte.
      const variants = this.#sends.filter(({ id }) => id === text.id);
      const first = this.#sends.indexOf(variants[0] ?? text);
      const mayBeErased = this.#erasures.some(
        ({ subject, sends }) => first < sends && variants.some((one) => one.isOf(subject)),
      );
      if (at === first && !mayBeErased)
        expect(variants.some(({ event }) => kept.includes(JSON.stringify(event)))).toBe(true);
    }
  }

  /**
   * Whether a text accepted before its erasure must be gone. Not if its id was sent again before it was
   * stored.
   */
  #isErased(text: SentText): boolean {
    return this.#erasures.some(({ subject, known, sends }) => {
      const last = this.#sends.findLastIndex(({ id }) => id === text.id);
      return text.isOf(subject) && (known.has(text.id) || last < sends);
    });
  }

  /**
   * Reads all texts of segments and quarantine; checks that each belongs to a row, or to a column of its
   * entry.
   */
  async #readTexts(): Promise<string[]> {
    const bodies: { body: Uint8Array; ids: Map<number, string> }[] = [];
    const rows = await database.select().from(events).where(eq(events.spaceId, this.#spaceId));
    for (const { id, body } of await database
      .select()
      .from(segments)
      .where(eq(segments.spaceId, this.#spaceId))) {
      const own = rows.filter(({ segmentId }) => segmentId === id);
      bodies.push({ body, ids: new Map(own.map((row) => [row.segmentIndex, row.id])) });
    }
    for (const entry of await database
      .select()
      .from(quarantine)
      .where(eq(quarantine.spaceId, this.#spaceId))) {
      const { body, columns } = decodePart(entry.part);
      bodies.push({ body, ids: new Map([[Number(columns?.segmentIndex), entry.id]]) });
    }
    expect(bodies.reduce((sum, { ids }) => sum + ids.size, 0)).toBeGreaterThanOrEqual(rows.length);
    return bodies.flatMap(({ body, ids }) => {
      const raw = zstdDecompressSync(body);
      const cut = cutEvents(raw, [...Array(100).keys()]);
      const texts = [...cut].filter(([, text]) => text !== '0');
      expect(new Map(texts.map(([index, text]) => [index, JSON.parse(text).id]))).toEqual(ids);
      const around = texts.reduce((rest, [, text]) => rest.replace(text, ''), raw.toString());
      expect(around).toMatch(/^(\{"events":\[[0,]*\]\})+$/);
      return texts.map(([, text]) => text);
    });
  }
}

/** Runs the writer; disposing waits until it has stored everything. */
function runWriter(): AsyncDisposable {
  const writer = startStoreWorkers({ database, log, concurrency: 2 });
  const delivery = startDelivery({ connection: nats, log }, firstStream, writer);
  return {
    async [Symbol.asyncDispose]() {
      const watermarks = await readWatermarks(nats);
      await until(async () => (await countQueued(nats, watermarks)) === 0);
      await delivery[Symbol.asyncDispose]();
      await writer[Symbol.asyncDispose]();
    },
  };
}

/** Every row of every table as text. */
async function readTables(): Promise<string> {
  let text = '';
  for (const table of Object.values(schema).filter((one) => is(one, PgTable))) {
    const rows = await database.execute<{ text: string | null }>(
      query`SELECT string_agg(one::text, ' ') AS text FROM ${table} AS one`,
    );
    text += rows[0]?.text ?? '';
  }
  return text;
}

/** While `is_on` is true, Postgres rejects events of one model. */
async function refusePoison(): Promise<void> {
  await sql`CREATE TABLE refusal AS SELECT true AS is_on`;
  await sql`
    CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.name = 'poison' AND (SELECT is_on FROM refusal) THEN RAISE EXCEPTION 'poison'; END IF;
      RETURN NEW;
    END $$`;
  await sql`CREATE TRIGGER poison BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse_poison()`;
}

const step = fc.oneof(
  fc.record({ send: randomRequests }),
  fc.record({ erase: randomSubject, later: randomRequests, isLagging: fc.boolean() }),
  fc.constant({ store: true as const }),
);

test('after any sequence of sends, stores and erasures, erased texts are nowhere and all others keep their bytes', async () => {
  await refusePoison();
  const property = fc.asyncProperty(
    randomRequests,
    fc.array(step, { minLength: 2, maxLength: 6 }),
    fc.boolean(),
    async (first, steps, isReplayed) => {
      const run = new Run((await createSpace(database, 'test')).id);
      await run.send(first);
      for (const one of steps) {
        if ('send' in one) await run.send(one.send);
        else if ('erase' in one) await run.erase(one.erase, one.later, one.isLagging);
        else await runWriter()[Symbol.asyncDispose]();
      }
      await runWriter()[Symbol.asyncDispose]();
      await run.check();
      if (!isReplayed) return;
      await sql`UPDATE refusal SET is_on = false`;
      await replayQuarantined(database);
      await sql`UPDATE refusal SET is_on = true`;
      await run.check();
    },
  );
  await fc.assert(property, { numRuns: 12, endOnFailure: true });
}, 300_000);
