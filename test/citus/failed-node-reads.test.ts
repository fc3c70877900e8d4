import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { TcpProxy } from '../../harness/network/tcp-proxy.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { eraseEvents } from '../../operations/erasure/erase.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { issueApiKey } from '../../store/accounts/api-keys.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { readPlacements } from '../../store/db/layout/cluster-nodes.ts';
import { spaces } from '../../store/db/schema.ts';
import { openDashboard, type TestDashboard, type TestSpace } from '../support/dashboard.ts';
import { type LiveTail, openTail } from '../support/live-tail.ts';
import { pepper } from '../support/pipeline.ts';
import { startNats } from '../support/test-servers.ts';
import { until } from '../support/wait.ts';

const isLocal = citusUrl !== undefined && new URL(citusUrl).hostname === '127.0.0.1';

describe.skipIf(!isLocal)(
  'what users see of a failed worker of the Citus cluster of WEIR_TEST_CITUS_URL, on this machine',
  { timeout: 300_000 },
  () => {
    const resources = new AsyncDisposableStack();
    const proxies: TcpProxy[] = [];
    let dashboard: TestDashboard;
    let lost: TestSpace;
    let kept: TestSpace;
    beforeAll(async () => {
      const { url } = resources.use(
        await createCitusDatabase(citusUrl ?? '', {
          through: async ({ port }) => {
            const proxy = resources.use(await TcpProxy.open(port));
            proxies.push(proxy);
            return { host: '127.0.0.1', port: proxy.port };
          },
        }),
      );
      dashboard = resources.use(await openDashboard({ databaseUrl: url }));
      const lostNode = `127.0.0.1:${failing().port}`;
      const addSpace = async (isLost: boolean): Promise<TestSpace> => {
        const space = await dashboard.addSpace();
        const placements = await readPlacements(dashboard.database, [space.spaceId]);
        return (placements.get(space.spaceId) === lostNode) === isLost ? space : addSpace(isLost);
      };
      [lost, kept] = [await addSpace(true), await addSpace(false)];
      for (const { spaceId } of [lost, kept]) {
        await insertParts(dashboard.database, [partOf(spaceId, someEvents(3))]);
        await issueApiKey(dashboard.database, spaceId, { name: 'shown', pepper });
        await dashboard.database.update(spaces).set({ plan: 'small' }).where(eq(spaces.id, spaceId));
      }
    }, turnTimeoutMs);
    afterAll(() => resources.disposeAsync());

    function failing(): TcpProxy {
      const proxy = proxies.at(-1);
      if (proxy === undefined) throw new Error('the cluster has no worker');
      return proxy;
    }

    /**
     * While a worker hangs, a call may share a connection with one that waits for it, and is answered with
     * 503: pages ask again.
     */
    async function answered<T>(ask: () => Promise<T>): Promise<T> {
      let answer: T | undefined;
      await until(async () => {
        answer = await ask().catch(() => undefined);
        return answer !== undefined;
      }, 60_000);
      return answer ?? ask();
    }

    const delaysOf = (tail: LiveTail) =>
      tail.messages.flatMap(({ data }) => (data.type === 'status' ? data.isDelayed : []));
    const tailOf = ({ spaceId, client }: TestSpace) => openTail(dashboard.url, client.cookie, { spaceId });

    test.each([
      ['refuses connections', (proxy: TcpProxy) => proxy.cut()],
      ['does not answer', (proxy: TcpProxy) => proxy.blackhole()],
    ])(
      'while it %s, keys and plans are shown, and only tails of its spaces are delayed, and say so',
      async (_, fail) => {
        using lostTail = tailOf(lost);
        using keptTail = tailOf(kept);
        await Promise.all([lostTail.ready(), keptTail.ready()]);
        // So that a look has told on which worker each is.
        await insertParts(dashboard.database, [
          partOf(lost.spaceId, someEvents(1)),
          partOf(kept.spaceId, someEvents(1)),
        ]);
        await until(() => lostTail.eventIds().length + keptTail.eventIds().length === 2, 60_000);
        try {
          await fail(failing());
          await until(() => delaysOf(lostTail).at(-1) === true, 60_000);
          const late = someEvents(2);
          await insertParts(dashboard.database, [partOf(kept.spaceId, late)]);
          await until(() => keptTail.eventIds().length === 3, 60_000);
          const [{ trpc }, query] = [lost.client, { spaceId: lost.spaceId }];
          const [key] = await answered(() => trpc.apiKeys.list.query(query));
          expect(key).toMatchObject({ name: 'shown', state: 'active', days: null });
          expect(await answered(() => trpc.usage.current.query(query))).toMatchObject({
            plan: 'small',
            events: null,
            forecast: null,
          });
          expect(await kept.client.trpc.usage.current.query({ spaceId: kept.spaceId })).toMatchObject({
            plan: 'small',
          });
          expect(delaysOf(keptTail)).not.toContain(true);
        } finally {
          await failing().heal();
        }
        // The coordinator still has connections that were cut.
        const back = partOf(lost.spaceId, someEvents(1));
        await until(() =>
          insertParts(dashboard.database, [back]).then(
            () => true,
            () => false,
          ),
        );
        await until(() => lostTail.eventIds().length === 2 && delaysOf(lostTail).at(-1) === false, 60_000);
      },
    );

    test('an erasure in a space of another worker says which one it waits for, and ends when it is back', async () => {
      const nats = resources.use(await startNats());
      await using connection = await connectQueue(nats.url, 'test');
      await using sql = openPostgres(dashboard.databaseUrl, {
        applicationName: 'erase',
        connectionsMax: 1,
        statementTimeoutMs: 60_000,
      });
      const gone = llmEvent({ context: { userId: 'gone' } });
      await insertParts(dashboard.database, [partOf(kept.spaceId, [gone])]);
      await failing().cut();
      const reports: string[] = [];
      const subject = { kind: 'user', value: 'gone' } as const;
      const report = (text: string) => void reports.push(text);
      const erasing = eraseEvents({ database: openDatabase(sql), connection }, kept.spaceId, {
        subject,
        report,
      });
      await Promise.race([erasing, until(() => reports.length > 0, 60_000)]).finally(() => failing().heal());
      expect(reports).toEqual([expect.stringContaining(`127.0.0.1:${failing().port}`)]);
      expect((await erasing).erased).toMatchObject({ events: 1 });
    });
  },
);
