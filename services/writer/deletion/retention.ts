import { startLoop } from '../../../platform/background-loop.ts';
import type { Logger } from '../../../platform/log.ts';
import { ClocksDifferError } from '../../../store/db/clock.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import { expireData } from '../../../store/retention/expire.ts';
import { retentionLagMsMax } from '../../../store/retention/limits.ts';
import { RetentionClock } from '../../../store/retention/retention-clock.ts';
import { retentionPassMs, retentionTimeoutMs } from '../limits.ts';

/** Deletes expired data on a separate connection: store statements never wait. One writer runs a pass. */
export function startRetention(
  databaseUrl: string,
  retentionDaysMax: number | undefined,
  log: Logger,
): AsyncDisposable {
  const sql = openPostgres(databaseUrl, {
    applicationName: 'weir-writer-retention',
    statementTimeoutMs: retentionTimeoutMs,
  });
  const database = openDatabase(sql);
  const clock = new RetentionClock();
  let isBehind = false;
  const runPass = async (signal: AbortSignal) => {
    const startedMs = performance.now();
    const result = await expireData(database, { retentionDaysMax, nowMs: Date.now(), clock, signal });
    if (result === undefined) return;
    const { dropped, locked, events, quarantined, notes, media, rewritten, lagMs } = result;
    if (!isBehind && lagMs > retentionLagMsMax)
      log.error(
        { hours: Math.round(lagMs / 3_600_000) },
        'ALARM: the clock has jumped ahead, or no writer ran for a long time: expired data is deleted in small steps. Correct the clock if it is wrong',
      );
    isBehind = lagMs > retentionLagMsMax;
    const ms = Math.round(performance.now() - startedMs);
    if (dropped.length + events + quarantined + notes + media + rewritten > 0)
      log.info({ dropped, events, quarantined, notes, media, rewritten, ms }, 'expired data deleted');
    if (locked.length > 0)
      log.warn({ locked }, 'partitions that have expired are in use by long queries; retrying later');
  };
  const run = (signal: AbortSignal) =>
    runPass(signal).catch((error: unknown) => {
      if (!(error instanceof ClocksDifferError)) throw error;
      log.error(`ALARM: nothing is deleted while ${error.message}`);
    });
  return startLoop(
    {
      run,
      intervalMs: retentionPassMs,
      failure: 'expired data was not deleted; retrying later',
      // An interrupted statement changes nothing.
      interrupt: () => sql.end({ timeout: 0 }),
    },
    log,
  );
}
