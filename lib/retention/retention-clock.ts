import type { Database } from '../db/database.ts';
import { retentionClock } from '../db/schema.ts';
import { retentionClockRateMax, unseenTimeMsMax } from './limits.ts';

/** The clock by which events expire, as the last pass left it. */
interface Reading {
  /** What it showed. */
  readonly timeMs: number;
  /** The clock of the machine at that moment. */
  readonly passedAtMs: number;
}

/**
 * The clock by which events expire (ADR 0019). It follows the clock of the machine, which may jump: it never shows a later
 * time, and runs at most `retentionClockRateMax` times as fast as time passes. How much time has passed since the last pass is
 * what the monotonic clock says. When the last pass was made by another process it is what the machine's clock says, at most
 * `unseenTimeMsMax`.
 */
export class RetentionClock {
  /** The last pass, if this process made it, and `performance.now()` of it. */
  #own: { passedAtMs: number; atMs: number } | undefined;

  /**
   * Moves the clock on.
   *
   * @param database of which one process at a time does this.
   * @param nowMs the clock of the machine.
   * @returns the time by which events expire now.
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
