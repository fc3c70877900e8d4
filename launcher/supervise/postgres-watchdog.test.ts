import { expect, test } from 'vitest';
import { createPanicWatch } from './postgres-watchdog.ts';

/**
 * As Postgres 18.4 writes them. The chaos fault `disk-error-postgres` checks the watchdog with a real server.
 */
const panic =
  '2026-11-21 13:46:15 UTC [7] PANIC:  could not fsync file "global/pg_control": Input/output error';
const turnedAway = '2026-11-21 13:46:16 UTC [8] FATAL:  the database system is in recovery mode';
const ended = '2026-11-21 13:46:16 UTC [1] LOG:  startup process (PID 7) was terminated by signal 6: Aborted';
const context = '2026-11-21 13:46:16 UTC [7] CONTEXT:  redo of LOG: at 0/1';

test('a Postgres whose log shows nothing but rejected clients after a PANIC is reported after 15 s', () => {
  const hasPanicked = createPanicWatch();
  expect(hasPanicked(`${panic}\n${context}\n${turnedAway}`, 0)).toBe(false);
  expect(hasPanicked(turnedAway, 15_000)).toBe(false);
  expect(hasPanicked('', 15_001)).toBe(true);
});

test('a Postgres that continues by itself, or recovers for a long time without PANIC, is not reported', () => {
  const hasPanicked = createPanicWatch();
  expect(hasPanicked(turnedAway, 0)).toBe(false);
  expect(hasPanicked(turnedAway, 60_000)).toBe(false);
  expect(hasPanicked(panic, 60_000)).toBe(false);
  expect(hasPanicked(ended, 61_000)).toBe(false);
  expect(hasPanicked(turnedAway, 120_000)).toBe(false);
});
