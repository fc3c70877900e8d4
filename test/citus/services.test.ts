import { count, eq, ne } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { toProtobuf } from '../../harness/fixtures/spans.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { clusterGatherMs } from '../../services/writer/limits.ts';
import { issueApiKey } from '../../store/accounts/api-keys.ts';
import { roles } from '../../store/accounts/role.ts';
import { setOperator } from '../../store/accounts/users.ts';
import {
  controlChanges,
  erasureRequests,
  erasures,
  eventIds,
  events,
  senders,
  spaceCommits,
} from '../../store/db/schema.ts';
import { foldDelays } from '../../store/store-delays/fold-delays.ts';
import { readDelays } from '../../store/store-delays/read-delays.ts';
import { runWeir } from '../support/cli/command-line.ts';
import { openClient, openDashboard, type TestDashboard, type TestSpace } from '../support/dashboard.ts';
import { postEvents } from '../support/http.ts';
import { openTail } from '../support/live-tail.ts';
import { postTraces } from '../support/otlp/otlp-http.ts';
import { type Pipeline, pepper, startProcessPipeline } from '../support/pipeline.ts';
import { changesOf } from '../support/protocols/dashboard-changes.ts';
import { callProcedure, type Procedure, procedures, sampleInput } from '../support/protocols/procedures.ts';
import { until } from '../support/wait.ts';

describe.skipIf(citusUrl === undefined)(
  'the services, each with its role, on the Citus cluster of WEIR_TEST_CITUS_URL',
  { timeout: 300_000 },
  () => {
    const resources = new AsyncDisposableStack();
    let pipeline: Pipeline;
    let dashboard: TestDashboard;
    let plain: TestDashboard;
    beforeAll(async () => {
      const { url } = resources.use(await createCitusDatabase(citusUrl ?? '', { withRoles: true }));
      pipeline = resources.use(await startProcessPipeline({ DATABASE_URL: url }));
      const { DATABASE_URL: _, ...variables } = pipeline.variables;
      dashboard = resources.use(await openDashboard({ databaseUrl: url, variables }));
      plain = resources.use(await openDashboard({ variables }));
    }, turnTimeoutMs);
    afterAll(() => resources.disposeAsync());

    const sent = [
      ...someEvents(20),
      llmEvent({ status: { state: 'error', error: { code: 'quota', message: 'refused' } } }),
    ];

    /** A space with events, with its owner signed in as an operator. */
    async function addOperator(one: TestDashboard): Promise<TestSpace> {
      const space = await one.addSpace();
      const { user } = await space.client.trpc.me.query();
      await setOperator(one.database, user.id, true);
      const client = openClient(one.url);
      await client.trpc.auth.signIn.mutate(space);
      await insertParts(one.database, [partOf(space.spaceId, sent)]);
      // Writers do it every few seconds; both databases must have done it before they are compared.
      await until(async () => {
        await foldDelays(one.database);
        const range = { fromMs: Date.now() - 3_600_000, toMs: Date.now() + 60_000 };
        return (await readDelays(one.database, space.spaceId, range)).total.events === sent.length;
      }, 60_000);
      return { ...space, client };
    }

    test('every query answers as on one Postgres', async () => {
      const [clustered, single] = [await addOperator(dashboard), await addOperator(plain)];
      const [row] = await dashboard.database
        .select()
        .from(events)
        .where(eq(events.spaceId, clustered.spaceId));
      const usual: Record<string, unknown> = {
        from: Date.now() - 3_600_000,
        to: Date.now() + 60_000,
        id: row?.id,
        eventId: row?.id,
        threadId: row?.threadId,
        traceId: row?.traceId,
        userId: row?.userId,
      };
      const call = async (one: TestDashboard, space: TestSpace, procedure: Procedure) => {
        const { spaceId, client } = space;
        const input = sampleInput(procedure, { spaceId, id: row?.id ?? '', email: space.email });
        for (const [name, value] of Object.entries(usual))
          if (name in input && value != null) input[name] = value;
        const outcome = await callProcedure(one.url, procedure, input, { cookie: client.cookie ?? '' });
        // Ids, times and cursors of the two differ, and so does all that is not of a space, or sealed.
        const isOwn =
          outcome.status === 200 &&
          !(roles.some((role) => role === procedure.access) && procedure.path !== 'events.sealFilter');
        const text = outcome.body
          .replaceAll(/[\da-f]{8}-[\da-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z|[\w-]{40,}/g, '*')
          .replaceAll(/"(p\d\dM|m)s":[\d.]+/g, '*');
        return { path: procedure.path, status: outcome.status, body: isOwn ? '' : text };
      };
      const queries = procedures.filter(({ type }) => type === 'query');
      expect(queries.length).toBeGreaterThan(40);
      for (const procedure of queries) {
        const [ours, theirs] = [
          await call(dashboard, clustered, procedure),
          await call(plain, single, procedure),
        ];
        expect([ours.path, ours.status, ours.body]).toEqual([theirs.path, theirs.status, theirs.body]);
      }
    });

    test('every change of the dashboard succeeds, and the control stream receives all changes', async () => {
      const mutations = procedures.filter(({ type }) => type === 'mutation');
      expect(mutations.length).toBeGreaterThan(20);
      for (const procedure of mutations) {
        const space = await dashboard.addSpace();
        const change = await changesOf(dashboard, space)[procedure.path]?.();
        const { status, body } = await callProcedure(dashboard.url, procedure, change?.input, {
          cookie: change?.cookie ?? '',
        });
        expect([procedure.path, status, status === 200 || body]).toEqual([procedure.path, 200, true]);
      }
      await until(async () => (await dashboard.database.$count(controlChanges)) === 0, 60_000);
    }, 180_000);

    test('after all of these, an erasure that is requested in the dashboard is completed, and its files are rewritten', async () => {
      const { spaceId, client } = await dashboard.addSpace();
      const gone = llmEvent({ context: { userId: 'gone' } });
      await insertParts(dashboard.database, [partOf(spaceId, [...sent, gone])]);
      await client.trpc.erasures.request.mutate({ spaceId, kind: 'user', value: 'gone', reason: 'asked to' });
      const isOpen = ne(erasureRequests.subject, 'space');
      await until(async () => (await dashboard.database.$count(erasureRequests, isOpen)) === 0, 240_000);
      const [done] = await dashboard.database.select().from(erasures).where(eq(erasures.spaceId, spaceId));
      expect(done).toMatchObject({ events: 1, receipt: { notReached: [] } });
    }, 300_000);

    test('one event a request: a live tail has each once, senders are counted, read keys list and the export has all', async () => {
      const space = await dashboard.addSpace();
      const { spaceId } = space;
      const tenant = {
        spaceId,
        ...(await issueApiKey(dashboard.database, spaceId, { name: 'load', pepper })),
      };
      using tail = openTail(dashboard.url, space.client.cookie, { spaceId });
      await tail.ready();
      const list = someEvents(600);
      let next = 0;
      const load = async () => {
        for (let event = list[next++]; event !== undefined; event = list[next++])
          expect((await postEvents(pipeline, tenant, [event])).status).toBe(202);
      };
      const startedMs = performance.now();
      await Promise.all(Array.from({ length: 8 }, load));
      const ids = list.map(({ id }) => String(id)).toSorted();
      await until(() => tail.eventIds().length >= ids.length, 60_000);
      expect(tail.eventIds().toSorted()).toEqual(ids);
      // A statement costs several times that of plain Postgres: the writer gathers events, and the first one
      // need not wait.
      const commits = await dashboard.database.$count(spaceCommits, eq(spaceCommits.spaceId, spaceId));
      expect(commits).toBeLessThanOrEqual(2 + (1.1 * (performance.now() - startedMs)) / clusterGatherMs);
      const body = toProtobuf({ spans: [{ attributes: { 'gen_ai.operation.name': 'chat' } }] });
      const request = { type: 'application/x-protobuf', body } as const;
      const answer = await postTraces(pipeline, tenant, request);
      expect(answer.status).toBe(200);
      const ofSpace = eq(senders.spaceId, spaceId);
      await until(async () => (await dashboard.database.$count(senders, ofSpace)) === 1, 60_000);
      // Counted a second time, it is an update.
      expect((await postTraces(pipeline, tenant, request)).status).toBe(200);
      await until(async () => {
        const [sender] = await dashboard.database.select().from(senders).where(ofSpace);
        return (sender?.stored ?? 0) + (sender?.merged ?? 0) === 2;
      }, 60_000);
      await until(() => tail.eventIds().length > ids.length, 60_000);
      const read = await issueApiKey(dashboard.database, spaceId, { name: 'read', pepper, scope: 'events' });
      const authorization = `Bearer ${read.apiKey}`;
      const listed = await openClient(dashboard.url, { authorization }).trpc.events.list.query({ limit: 50 });
      expect(listed.events).toHaveLength(50);
      const exported = await fetch(`${dashboard.url}/export/${spaceId}?format=events`, {
        headers: { authorization },
      });
      const lines = (await exported.text()).trim().split('\n');
      expect(exported.status).toBe(200);
      expect(JSON.parse(lines.pop() ?? '')).toEqual({ exportedRows: ids.length + 1 });
      expect(new Set(lines).size).toBe(ids.length + 1);
      expect(pipeline.ingest.log()).not.toMatch(/"level":[456]0/);
    }, 180_000);

    test('a space is deleted with everything of it on every node, and the receipt says so', async () => {
      const { spaceId } = await dashboard.addSpace();
      const other = await dashboard.addSpace();
      const owned = (id: string) => insertParts(dashboard.database, [partOf(id, someEvents(30))]);
      expect([await owned(spaceId), await owned(other.spaceId)]).toEqual([30, 30]);
      const weir = async (...words: string[]) => {
        const { exitCode, stdout, stderr } = await runWeir(words, pipeline.variables);
        expect([exitCode, stderr]).toEqual([0, '']);
        return JSON.parse(stdout);
      };
      await weir('space', 'delete', spaceId, '--yes', '--now');
      const deletion = async () =>
        (
          (await weir('space', 'deletions')) as {
            spaceId: string;
            completedAt: string | null;
            receipt: unknown;
          }[]
        ).find((one) => one.spaceId === spaceId);
      await until(async () => (await deletion())?.completedAt != null, 150_000);
      expect((await deletion())?.receipt).toMatchObject({ notReached: [], erased: { events: 30 } });
      const rowsOf = async (id: string) =>
        (await dashboard.database.select({ rows: count() }).from(eventIds).where(eq(eventIds.spaceId, id)))[0]
          ?.rows;
      expect([await rowsOf(spaceId), await rowsOf(other.spaceId)]).toEqual([0, 30]);
      expect(await owned(spaceId)).toBe(0);
    }, 240_000);
  },
);
