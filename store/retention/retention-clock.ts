import type { Database } from '../db/database.ts';
import { retentionClock } from '../db/schema.ts';
import { retentionClockRateMax, unseenTimeMsMax } from './limits.ts';

/** The retention clock as stored by the last pass. */
interface Reading {
  readonly timeMs: number;
  /** The machine clock at that moment. */
  readonly passedAtMs: number;
}

/**
 * The clock by which events expire (ADR 0019): never later than the machine clock, which may jump, and at
 * most `retentionClockRateMax` times as fast as real time, by the monotonic clock. After another process's
 * pass it is the machine clock's, limited to `unseenTimeMsMax`.
 */
export class RetentionClock {
  /** The last pass, if this process made it, and its `performance.now()`. */
  #own: { passedAtMs: number; atMs: number } | undefined;

  /**
   * @param database only one process at a time may advance its clock. @param nowMs the machine clock.
   * @returns the current retention time, since the epoch.
   */
  async advance(database: Database, nowMs: number): Promise<number> {
    const last = await readRow(database);
    const timeMs = last === undefined ? nowMs : this.#advanced(last, nowMs);
    await writeRow(database, { timeMs, passedAtMs: nowMs });
    this.#own = { passedAtMs: nowMs, atMs: performance.now() };
    return timeMs;
  }

  #advanced({ timeMs, passedAtMs }: Reading, nowMs: number): number {
    const elapsedMs =
      this.#own?.passedAtMs === passedAtMs
        ? performance.now() - this.#own.atMs
        : Math.min(Math.max(nowMs - passedAtMs, 0), unseenTimeMsMax);
    return Math.min(nowMs, timeMs + retentionClockRateMax * elapsedMs);
  }
}

async function readRow(database: Database): Promise<Reading | undefined> {
  const [row] = await database.select().from(retentionClock);
  return row && { timeMs: row.time.getTime(), passedAtMs: row.passedAt.getTime() };
}

async function writeRow(database: Database, { timeMs, passedAtMs }: Reading): Promise<void> {
  const values = { time: new Date(timeMs), passedAt: new Date(passedAtMs) };
  await database.insert(retentionClock).values(values).onConflictDoUpdate({
    target: retentionClock.id,
    set: values,
  });
}
