import { afterEach, expect, test, vi } from 'vitest';
import { createDatabase } from '../../test/support/test-servers.ts';
import { ClocksDifferError, openCheckedClock } from './clock.ts';
import { openPostgres } from './connect.ts';
import { openDatabase } from './database.ts';
import { clockDifferenceMsMax } from './limits.ts';

afterEach(() => void vi.useRealTimers());

test('a changed clock is detected at once, in both directions, even while Postgres is unreachable', async () => {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await createDatabase());
  const sql = openPostgres(url, { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 10_000 });
  const alarms: string[] = [];
  const log = { error: (text: string) => alarms.push(text), info: (text: string) => alarms.push(text) };
  // Only these two methods of pino's logger are used.
  const clock = stack.use(await openCheckedClock(openDatabase(sql), log as never));
  const realMs = Date.now();
  expect(clock.nowMs()).toBeGreaterThanOrEqual(realMs);
  await sql.end();
  vi.useFakeTimers({ toFake: ['Date'] });
  for (const jumpMs of [-8 * 86_400_000, -2 * clockDifferenceMsMax, 2 * clockDifferenceMsMax]) {
    vi.setSystemTime(realMs + jumpMs);
    expect(() => clock.nowMs()).toThrow(ClocksDifferError);
  }
  vi.setSystemTime(realMs);
  expect(clock.nowMs()).toBeGreaterThanOrEqual(realMs);
  expect(alarms).toEqual([]);
});
