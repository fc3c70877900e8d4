import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import { expect, test, vi } from 'vitest';
import { someEvents } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import { spaces } from '../../../store/db/schema.ts';
import { createDatabase } from '../../../test/support/test-servers.ts';
import { liveOpeningMax } from './limits.ts';
import { LiveStreams } from './live-streams.ts';
import { OpenStreams } from './open-streams.ts';

const spaceCount = 40;
/** Looks of one space while statements are counted. */
const looks = 5;

test('idle streams of many spaces are looked up together, and get events without a notice', async () => {
  await using resources = new AsyncDisposableStack();
  const { url } = resources.use(await createDatabase());
  const sql = resources.use(
    openPostgres(url, { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 0 }),
  );
  const asked = vi.spyOn(sql, 'unsafe');
  const database = openDatabase(sql);
  const rows = await database
    .insert(spaces)
    .values(Array.from({ length: spaceCount }, () => ({ name: 'idle' })))
    .returning({ id: spaces.id });
  const live = new LiveStreams(database, pino({ level: 'silent' }));
  const open = rows.map(({ id }) => {
    const stopping = new AbortController();
    const stream = live.open({
      spaceId: id,
      filter: {},
      after: undefined,
      hasChanges: true,
      signal: stopping.signal,
      callerId: 'caller',
      checkAccess: async () => {},
      recheckMs: 60_000,
    });
    resources.defer(async () => {
      stopping.abort();
      await stream.return();
    });
    return stream;
  });
  for (const stream of open) await stream.next();

  // The first looks may still read each space.
  let statements = Infinity;
  for (let tries = 0; tries < 20 && statements >= spaceCount; tries++) {
    asked.mockClear();
    await vi.waitFor(() => expect(repeated(asked.mock.calls)).toBeGreaterThanOrEqual(looks), {
      timeout: 60_000,
      interval: 20,
    });
    statements = asked.mock.calls.length;
  }
  expect(statements).toBeLessThan(spaceCount);

  const [first] = open;
  await insertParts(database, [partOf(rows[0]?.id ?? '', someEvents(2))]);
  let message = (await first?.next())?.value?.[1];
  while (message?.type === 'status') message = (await first?.next())?.value?.[1];
  expect(message).toMatchObject({ type: 'events', events: [{}, {}] });
}, 120_000);

/** How often the most frequent statement was executed with the same parameters. */
function repeated(calls: readonly unknown[][]): number {
  const counts = Map.groupBy(calls, (call) => JSON.stringify(call));
  return Math.max(0, ...Array.from(counts.values(), ({ length }) => length));
}

test('streams of one caller share the check of its access, and all end when it is lost', async () => {
  await using resources = new AsyncDisposableStack();
  const { url } = resources.use(await createDatabase());
  const database = openDatabase(
    resources.use(openPostgres(url, { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 0 })),
  );
  const [space] = await database.insert(spaces).values({ name: 'shared' }).returning({ id: spaces.id });
  const live = new LiveStreams(database, pino({ level: 'silent' }));
  const lost = Promise.withResolvers<void>();
  const checkAccess = vi.fn(() => lost.promise);
  const streams = ['a', 'a', 'a', 'b'].map((callerId) =>
    live.open({
      ...{ spaceId: space?.id ?? '', filter: {}, after: undefined, hasChanges: false },
      ...{ signal: new AbortController().signal, callerId, checkAccess, recheckMs: 0 },
    }),
  );
  for (const stream of streams) await stream.next();
  const ends = streams.map((stream) => expect(stream.next()).rejects.toThrow('access is lost'));
  await setImmediate();
  expect(checkAccess).toHaveBeenCalledTimes(2);
  lost.reject(new Error('access is lost'));
  await Promise.all(ends);
});

test('streams are opened some at a time, also when clients leave before their turn', async () => {
  using open = new OpenStreams();
  const started: number[] = [];
  const responses = Array.from(
    { length: liveOpeningMax + 3 },
    () => new ServerResponse(new IncomingMessage(new Socket())),
  );
  const answered = responses.map((response, place) => open.openInTurn(response, () => started.push(place)));
  await setImmediate();
  expect(started).toHaveLength(liveOpeningMax);
  responses[liveOpeningMax]?.emit('close');
  // One gets its place, one is refused.
  const holder = { holderId: 'person', spaceId: 'space' };
  using _slot = open.add(responses[0] ?? expect.fail(), holder);
  responses[1]?.emit('close');
  await Promise.all([answered[0], answered[1], answered[liveOpeningMax]]);
  expect(started.slice(liveOpeningMax)).toEqual([liveOpeningMax + 1, liveOpeningMax + 2]);
});
