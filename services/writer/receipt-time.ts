import { clockDifferenceMsMax } from '../../lib/db/limits.ts';
import type { Part } from '../../lib/queue/group.ts';

/**
 * Corrects times of receipt that are too early. Ingest compares its clock with that of Postgres, but after a machine was
 * suspended it accepts events for up to two seconds before the next comparison. With a time of receipt days ago such events
 * would expire at once, and the ledger would reject a retry. A message is queued moments after its events are received, so
 * the time at which nats-server received it is close enough, and the same at every delivery. If the clock of nats-server is
 * ahead, the events are only kept longer.
 *
 * @param queuedAtMs when nats-server received the message, by its clock.
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
