import { afterEach, expect, test, vi } from 'vitest';
import { createSpace } from '../../../store/accounts/spaces.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import { usageMonths } from '../../../store/db/schema.ts';
import { createDatabase } from '../../../test/support/test-servers.ts';
import { Quota } from './quota.ts';

afterEach(() => void vi.useRealTimers());

test('a request that waits over the end of the month is counted in the new one', async () => {
  await using owned = await createDatabase();
  await using sql = openPostgres(owned.url, {
    applicationName: 'test',
    connectionsMax: 1,
    statementTimeoutMs: 10_000,
  });
  const database = openDatabase(sql);
  const { id: spaceId } = await createSpace(database, 'x', { monthlyEventLimit: 10 });
  await database.insert(usageMonths).values({ spaceId, month: '2026-12', events: 9 });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-12-31T23:59:59.900Z') });
  const quota = new Quota(
    database,
    // The pending events are stored, and reach the limit of the old month, when the new month begins.
    {
      read: async () => new Map(),
      async reaches() {
        await database.update(usageMonths).set({ events: 10 });
        vi.setSystemTime(Date.parse('2027-01-01T00:00:00.100Z'));
        return true;
      },
    },
    { listen: () => {}, announce: async () => {}, caughtUp: async () => {} },
  );
  const principal = {
    spaceId,
    keyId: '',
    monthlyEventLimit: 10,
    billingState: 'active' as const,
  };
  await quota.noteAccepted({ spaceId, events: 1, position: { stream: 's', sequence: 1 } });
  expect(await quota.admit(principal)).toEqual({ limit: 10, used: 0 });
});
