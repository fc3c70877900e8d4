import { lt, sql } from 'drizzle-orm';
import { startLoop } from '../../../platform/background-loop.ts';
import type { ConfigWith } from '../../../platform/config.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Database } from '../../../store/db/database.ts';
import { alertDeliveries, alertEvents } from '../../../store/db/schema.ts';
import { deliverDue, openSender } from './deliver.ts';
import { evaluateNext } from './evaluate-rules.ts';
import { alertPollMs, historyMs, historyPassMs } from './limits.ts';
import { SlowSpaces } from './slow-spaces.ts';

/** Every dashboard API evaluates the rules of all spaces in the background, and sends (docs/alerts.md). */
export function startAlerts(
  database: Database,
  config: ConfigWith<'API_KEY_PEPPER'>,
  log: Logger,
): AsyncDisposable {
  const send = openSender(config);
  const slow = new SlowSpaces();
  const repeat = (failure: string, run: () => Promise<boolean>, pauseMs: number) =>
    startLoop(
      {
        run,
        intervalMs: (isMore) => (isMore ? 0 : pauseMs),
        retryMs: 5 * pauseMs,
        failure: `${failure}; trying again later`,
      },
      log,
    );
  // Separately: a receiver that does not answer delays no evaluation.
  const loops = [
    repeat(
      'alerts were not evaluated',
      () => evaluateNext(database, config.DASHBOARD_PUBLIC_URL, slow),
      alertPollMs,
    ),
    repeat('alerts were not sent', async () => (await deliverDue(database, send)) > 0, alertPollMs),
    repeat('old alerts were not deleted', () => deleteHistory(database), historyPassMs),
  ];
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
    },
  };
}

async function deleteHistory(database: Database): Promise<boolean> {
  const old = sql`now() - ${historyMs}::float8 * interval '1 millisecond'`;
  await database.delete(alertDeliveries).where(lt(alertDeliveries.createdAt, old));
  await database.delete(alertEvents).where(lt(alertEvents.createdAt, old));
  return false;
}
