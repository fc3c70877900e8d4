import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { count, eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agedPart } from '../../harness/fixtures/aged-part.ts';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { eraseEvents } from '../../operations/erasure/erase.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { changeSpace, createSpace } from '../../store/accounts/spaces.ts';
import { readUsage } from '../../store/accounts/usage.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import {
  type ClusterNode,
  listNodes,
  nameOfNode,
  readPlacements,
  runOnNode,
} from '../../store/db/layout/cluster-nodes.ts';
import { ensurePartitions } from '../../store/db/partitions.ts';
import { eventIds, events, segments } from '../../store/db/schema.ts';
import type { EventFilter } from '../../store/read/event-filter.ts';
import { readEventPage } from '../../store/read/event-page.ts';
import { expireData } from '../../store/retention/expire.ts';
import { RetentionClock } from '../../store/retention/retention-clock.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { startNats } from '../support/test-servers.ts';

const ofUser = (value: string) => ({ subject: { kind: 'user', value } }) as const;
const eventOf = (userId: string, changes: object = {}) => llmEvent({ context: { userId }, ...changes });

/** One connection to the database of a URL on another node. */
function openAt(databaseUrl: string, { host, port }: ClusterNode) {
  const onNode = new URL(databaseUrl);
  [onNode.hostname, onNode.port] = [host, String(port)];
  return openPostgres(onNode.href, { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 });
}

describe.skipIf(citusUrl === undefined)(
  'deleting on the Citus cluster of WEIR_TEST_CITUS_URL',
  { timeout: 300_000 },
  () => {
    const resources = new AsyncDisposableStack();
    let url: string;
    let database: Database;
    let erasing: Database;
    let expiring: Database;
    let nats: Awaited<ReturnType<typeof connectQueue>>;
    beforeAll(async () => {
      ({ url } = resources.use(await createCitusDatabase(citusUrl ?? '')));
      const open = (connectionsMax: number) =>
        openDatabase(
          resources.use(
            openPostgres(url, { applicationName: 'test', connectionsMax, statementTimeoutMs: 60_000 }),
          ),
        );
      [database, erasing, expiring] = [open(4), open(1), open(1)];
      const server = resources.use(await startNats());
      nats = resources.use(await connectQueue(server.url, 'test'));
    }, turnTimeoutMs);
    afterAll(() => resources.disposeAsync());

    const expire = () =>
      expireData(expiring, { retentionDaysMax: undefined, nowMs: Date.now(), clock: new RetentionClock() });
    const countIn = async (table: typeof events | typeof segments | typeof eventIds, spaceId: string) =>
      (await database.select({ rows: count() }).from(table).where(eq(table.spaceId, spaceId)))[0]?.rows;
    async function textsOf(spaceId: string): Promise<Map<string, string | undefined>> {
      const rows = await database
        .select({ id: events.id, segmentId: events.segmentId, segmentIndex: events.segmentIndex })
        .from(events)
        .where(eq(events.spaceId, spaceId));
      const texts = await readEventTexts(database, spaceId, rows);
      return new Map(rows.map(({ id }, i) => [id, texts[i]]));
    }

    test('erased events leave no text, also in no file of any node, and are not stored again when resent; other events keep their bytes', async () => {
      const { id: spaceId } = await createSpace(database, 'erased');
      const user = `erased-${randomUUID()}`;
      const gone = eventOf(user);
      const sent = [eventOf('a'), gone, eventOf('b'), eventOf(user)];
      await insertParts(database, [partOf(spaceId, sent), agedPart(spaceId, [eventOf(user)], 20)]);
      await insertParts(database, [partOf(spaceId, [gone, eventOf('c')])]);
      // The samples of the planner have the user, too.
      await database.execute(sql`ANALYZE ${events}`);
      const kept = new Map([...(await textsOf(spaceId))].filter(([, text]) => !text?.includes(user)));
      expect(kept.size).toBe(3);
      const before = await findInFiles(user);
      const { erased, rewrittenTables, notReached, forgotten } = await eraseEvents(
        { database: erasing, connection: nats },
        spaceId,
        ofUser(user),
      );
      expect(erased).toMatchObject({ events: 3, segmentsRewritten: 1, segmentsDeleted: 1 });
      expect(await textsOf(spaceId)).toEqual(kept);
      expect(notReached).toEqual([]);
      const nodes = await listNodes(database);
      const rewritten = [/^events_\d+_\d+ on /, /^segments_\d+_\d+ on /];
      for (const one of rewritten) expect(rewrittenTables).toContainEqual(expect.stringMatching(one));
      for (const node of nodes) {
        expect(rewrittenTables).toContain(`pg_statistic on ${nameOfNode(node)}`);
        expect(forgotten.wal.from).toContain(`${nameOfNode(node)}: up to `);
      }
      if (before !== undefined) {
        expect(before).not.toEqual([]);
        expect(await findInFiles(user)).toEqual([]);
      }
      const usage = await readUsage(database, spaceId);
      expect(await insertParts(database, [partOf(spaceId, sent)])).toBe(0);
      expect(await readUsage(database, spaceId)).toEqual(usage);
      expect(await countIn(eventIds, spaceId)).toBe(6);
    });

    test('while a transaction of another database is open on the node of a space, no file is copied: it would have the erased rows', async () => {
      const { id: spaceId } = await createSpace(database, 'kept by others');
      const user = `erased-${randomUUID()}`;
      await insertParts(database, [partOf(spaceId, [eventOf(user), eventOf('a')])]);
      const [host = '', port = ''] = (await nodeOf(spaceId)).split(':');
      await using other = openAt(citusUrl ?? '', { host, port: Number(port) });
      await other`SET idle_in_transaction_session_timeout = 0`;
      await other`BEGIN`;
      await other`SELECT pg_current_xact_id()`;
      let ended: Promise<unknown> | undefined;
      const { notReached } = await eraseEvents({ database: erasing, connection: nats }, spaceId, {
        ...ofUser(user),
        report: (text) => {
          if (text.endsWith('waiting for older transactions')) ended ??= other`COMMIT`.execute();
        },
      });
      expect(ended).toBeDefined();
      await ended;
      expect(notReached).toEqual([]);
      const found = await findInFiles(user);
      if (found !== undefined) expect(found).toEqual([]);
    });

    test('an erasure waits while a transaction is in doubt on the node of its space', async () => {
      const { id: spaceId } = await createSpace(database, 'in doubt');
      const node = (await readPlacements(database, [spaceId]))?.get(spaceId) ?? '';
      const [host = '', port = ''] = node.split(':');
      await using worker = openAt(url, { host, port: Number(port) });
      await worker`BEGIN`;
      await worker`SELECT pg_current_xact_id()`;
      await worker`PREPARE TRANSACTION 'weir test'`;
      // The next transaction has a later id.
      await worker`SELECT pg_current_xact_id()`;
      let ended: Promise<unknown> | undefined;
      await eraseEvents({ database: erasing, connection: nats }, spaceId, {
        ...ofUser('gone'),
        report: (text) => {
          if (text === `waiting for a transaction in doubt on ${node}`)
            ended ??= worker`ROLLBACK PREPARED 'weir test'`.execute();
        },
      });
      expect(ended).toBeDefined();
      await ended;
    }, 120_000);

    const nodeOf = async (spaceId: string) => (await readPlacements(database, [spaceId]))?.get(spaceId) ?? '';

    /**
     * The files of the database, on any node, that contain the text; undefined when the nodes are on other
     * machines.
     */
    async function findInFiles(text: string): Promise<string[] | undefined> {
      const found: string[] = [];
      for (const node of await listNodes(database)) {
        await runOnNode(database, node, 'CHECKPOINT');
        const place = `SELECT current_setting('data_directory') || '/base/' || oid FROM pg_database WHERE datname = current_database()`;
        const directory = await runOnNode(database, node, place);
        if (!existsSync(directory)) return undefined;
        // The files of tables. Postgres replaces its cache `pg_internal.init` at any time.
        for (const name of readdirSync(directory).filter((one) => /^\d/.test(one)))
          if (readFileSync(join(directory, name)).includes(text)) found.push(`${nameOfNode(node)} ${name}`);
      }
      return found;
    }

    test('an event that expired, by a drop or in a batch, is neither stored nor billed when it is sent again', async () => {
      const { id: spaceId } = await createSpace(database, 'expired', {});
      const keeper = await createSpace(database, 'keeper', {});
      const [dropped, deleted, fresh] = [someEvents(3), someEvents(2), someEvents(1)];
      await insertParts(database, [
        agedPart(spaceId, dropped, 60),
        agedPart(spaceId, deleted, 20),
        agedPart(keeper.id, someEvents(1), 20),
        partOf(spaceId, fresh),
      ]);
      await ensurePartitions(expiring, Date.now());
      await changeSpace(database, spaceId, { retentionDays: 7 });
      const result = await expire();
      expect(result).toMatchObject({ locked: [], events: 2 });
      expect(result?.dropped.length).toBeGreaterThan(0);
      const usage = await readUsage(database, spaceId);
      expect(await insertParts(database, [partOf(spaceId, [...dropped, ...deleted])])).toBe(0);
      expect(await insertParts(database, [partOf(spaceId, [...deleted, ...someEvents(1)])])).toBe(1);
      expect(await countIn(events, spaceId)).toBe(2);
      expect(await readUsage(database, spaceId)).toMatchObject({ events: (usage?.events ?? 0) + 1 });
    });

    test('concurrent erasure and retention in one space both complete, and leave no event without its segment', async () => {
      const { id: spaceId } = await createSpace(database, 'both', { retentionDays: 7 });
      const aged = (days: number) => agedPart(spaceId, [eventOf('gone'), eventOf('kept')], days);
      const parts = Array.from({ length: 300 }, (_, i) => aged(i % 2 === 0 ? 20 : 1));
      const keeper = await createSpace(database, 'keeper', {});
      await insertParts(database, [...parts, agedPart(keeper.id, someEvents(2), 20)]);
      await ensurePartitions(expiring, Date.now());
      const [receipt] = await Promise.all([
        eraseEvents({ database: erasing, connection: nats }, spaceId, ofUser('gone')),
        expire(),
      ]);
      await expire();
      expect(receipt.erased.events).toBeGreaterThanOrEqual(150);
      expect([await countIn(events, spaceId), await countIn(segments, spaceId)]).toEqual([150, 150]);
      const texts = [...(await textsOf(spaceId)).values()];
      expect(texts).toHaveLength(150);
      for (const text of texts) expect(text).toContain('"userId":"kept"');
    });

    test('filters find frequent, rare, old and absent values, alone and combined, over several weeks', async () => {
      const { id: spaceId } = await createSpace(database, 'filtered');
      const model = (name: string) => ({ properties: { llm: { model: name } } });
      const old = Array.from({ length: 40 }, (_, i) =>
        eventOf('frequent', { startTimeMs: 1_000 + i, ...model('retired') }),
      );
      const rare = eventOf('rare', {
        startTimeMs: 1_500,
        ...model('retired'),
        additionalProperties: { n: 1 },
      });
      const recent = Array.from({ length: 40 }, (_, i) =>
        eventOf('frequent', { startTimeMs: 9_000 + i, ...model('new') }),
      );
      await insertParts(database, [
        agedPart(spaceId, [...old, rare], 30),
        agedPart(spaceId, recent.slice(0, 20), 9),
        partOf(spaceId, recent.slice(20)),
      ]);
      await ensurePartitions(expiring, Date.now());
      const columns = { id: events.id, startTimeMs: events.startTimeMs };
      const find = async (filter: EventFilter) => {
        const page = await readEventPage(database, spaceId, {
          columns,
          filter,
          after: undefined,
          limit: 100,
        });
        expect(page.isComplete).toBe(true);
        return page.rows.map(({ id }) => id);
      };
      const newest = (list: readonly Record<string, unknown>[]) => list.map(({ id }) => id).toReversed();
      expect(await find({ userId: 'frequent' })).toEqual(newest([...old, ...recent]));
      expect(await find({ userId: 'rare' })).toEqual([rare.id]);
      expect(await find({ userId: 'absent' })).toEqual([]);
      expect(await find({ name: 'retired' })).toEqual(newest([...old, rare]));
      expect(await find({ name: 'retired', userId: 'rare' })).toEqual([rare.id]);
      expect(await find({ name: 'new', userId: 'rare' })).toEqual([]);
      expect(await find({ name: 'new', from: 9_030 })).toEqual(newest(recent.slice(30)));
    });
  },
);
