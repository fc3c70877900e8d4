import { setTimeout as sleep } from 'node:timers/promises';
import { lt, sql } from 'drizzle-orm';
import type { ConfigWith } from '../../../platform/config.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Database } from '../../../store/db/database.ts';
import { alertDeliveries, alertEvents } from '../../../store/db/schema.ts';
import { deliverDue, openSender } from './deliver.ts';
import { evaluateNext } from './evaluate-rules.ts';
import { alertPollMs, historyMs, historyPassMs } from './limits.ts';
import { SlowSpaces } from './slow-spaces.ts';

/** Evaluates the rules of all spaces and sends what happens, in the background (docs/alerts.md). Every dashboard API does. */
export function startAlerts(
  database: Database,
  config: ConfigWith<'API_KEY_PEPPER'>,
  log: Logger,
): AsyncDisposable {
  const stopping = new AbortController();
  const { signal } = stopping;
  const send = openSender(config);
  const slow = new SlowSpaces();
  const repeat = async (what: string, runOnce: () => Promise<boolean>, pauseMs: number) => {
    while (!signal.aborted) {
      let isMore = false;
      let isBroken = false;
      try {
        isMore = await runOnce();
      } catch (error) {
        isBroken = true;
        if (!signal.aborted) log.warn({ err: error }, `${what}; trying again later`);
      }
      if (!isMore) await sleep(isBroken ? 5 * pauseMs : pauseMs, undefined, { signal }).catch(() => {});
    }
  };
  // Separately, so that a receiver that does not answer delays no evaluation.
  const running = Promise.all([
    repeat(
      'alerts were not evaluated',
      () => evaluateNext(database, config.DASHBOARD_PUBLIC_URL, slow),
      alertPollMs,
    ),
    repeat('alerts were not sent', async () => (await deliverDue(database, send)) > 0, alertPollMs),
    repeat('old alerts were not deleted', () => deleteHistory(database), historyPassMs),
  ]);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}

async function deleteHistory(database: Database): Promise<boolean> {
  const old = sql`now() - ${historyMs}::float8 * interval '1 millisecond'`;
  await database.delete(alertDeliveries).where(lt(alertDeliveries.createdAt, old));
  await database.delete(alertEvents).where(lt(alertEvents.createdAt, old));
  return false;
}
