import pino from 'pino';
import { expect, test, vi } from 'vitest';
import { someEvents } from '../../../harness/fixtures/events.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import { spaces } from '../../../store/db/schema.ts';
import { insertParts } from '../../../store/write/store.ts';
import { createDatabase } from '../../../test/support/test-servers.ts';
import { LiveStreams } from './live-streams.ts';

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
