import { clockDifferenceMsMax } from '../../lib/db/limits.ts';
import type { Part } from '../../lib/queue/group.ts';

/**
 * Corrects times of receipt that are too early. Ingest notices a wrong clock when it compares it with that of Postgres, but a
 * machine that was suspended accepts events for up to two seconds before that. With a time of receipt of days ago they would
 * expire at once, and the ledger would refuse the retry. The queue took the message at most moments after the receipt of its
 * events, so its clock tells the time. It is the same at every delivery. At worst, when the clock of nats-server is ahead,
 * the events are kept for longer.
 *
 * @param queuedAtMs the clock of nats-server when it took the message.
 * @returns how many events were corrected.
 */
export function correctReceipts(parts: readonly Part[], queuedAtMs: number): number {
  const receivedAtMs = Math.min(queuedAtMs, Date.now());
  let corrected = 0;
  for (const part of parts) {
    if (receivedAtMs - Number(part.receivedAtMs) <= clockDifferenceMsMax) continue;
    part.receivedAtMs = BigInt(receivedAtMs);
    corrected += part.eventCount;
  }
  return corrected;
}
