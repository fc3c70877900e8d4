import { sql } from 'drizzle-orm';
import { startLoop } from '../../platform/background-loop.ts';
import type { Logger } from '../../platform/log.ts';
import { type Database, readOne } from './database.ts';
import { clockCheckMs, clockDifferenceMsMax } from './limits.ts';

/** Postgres's clock or this process's is wrong, so no decision may depend on either. */
export class ClocksDifferError extends Error {
  override name = 'ClocksDifferError';

  /** @param serverMs the clock of Postgres; undefined when it was never read. */
  constructor(serverMs: number | undefined, ownMs: number) {
    super(
      serverMs === undefined
        ? 'the clock of Postgres could not be read yet'
        : `the clocks of Postgres (${new Date(serverMs).toISOString()}) and of this process (${new Date(ownMs).toISOString()}) differ by more than ${clockDifferenceMsMax / 1_000} s`,
    );
  }
}

/** @throws ClocksDifferError */
export function expectSameTime(serverMs: number, ownMs: number): void {
  if (Math.abs(serverMs - ownMs) > clockDifferenceMsMax) throw new ClocksDifferError(serverMs, ownMs);
}

/** The clock of Postgres at this moment, not at the start of a transaction. */
export async function readServerClock(database: Database): Promise<number> {
  const query = sql`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`;
  return (await readOne<{ ms: number }>(database, query)).ms;
}

/** This process's clock, compared with that of Postgres. */
export interface CheckedClock extends AsyncDisposable {
  /** This process's time since the epoch. @throws ClocksDifferError when Postgres' clock differs too much. */
  nowMs(): number;
}

/**
 * Compares the clocks now and every `clockCheckMs`, and logs when they start and stop differing. In between,
 * the monotonic clock extrapolates Postgres' time: a clock that is set is detected at once.
 */
export async function openCheckedClock(database: Database, log: Logger): Promise<CheckedClock> {
  /** The clock of Postgres minus `performance.now()`. */
  let serverOffsetMs: number | undefined;
  const nowMs = () => {
    const ownMs = Date.now();
    if (serverOffsetMs === undefined) throw new ClocksDifferError(undefined, ownMs);
    expectSameTime(performance.now() + serverOffsetMs, ownMs);
    return ownMs;
  };
  let isWrong = false;
  const compare = async () => {
    const startedMs = performance.now();
    const serverMs = await readServerClock(database);
    serverOffsetMs = serverMs - (startedMs + performance.now()) / 2;
    try {
      nowMs();
      if (isWrong) log.info('the clocks of Postgres and of this process agree again');
      isWrong = false;
    } catch (error) {
      if (!isWrong) log.error(`ALARM: ${error instanceof Error ? error.message : error}`);
      isWrong = true;
    }
  };
  // A failed query says nothing about the clocks.
  await compare().catch(() => {});
  const failure = 'the clock of Postgres was not read';
  const loop = startLoop({ run: compare, intervalMs: clockCheckMs, delayMs: clockCheckMs, failure }, log);
  return { nowMs, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
}
