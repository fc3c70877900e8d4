import type { Group } from '../../platform/queue/group.ts';
import { clockDifferenceMsMax } from '../../store/db/limits.ts';

/**
 * Corrects times of receipt that are too early. Ingest compares its clock with that of Postgres, but after a
 * machine was suspended it accepts events for up to two seconds before the next comparison. With a time of
 * receipt days ago such events would expire at once, and the ledger would reject a retry. A message is queued
 * moments after its events are received, so the time at which nats-server received it is close enough, and
 * the same at every delivery. If the clock of nats-server is ahead, the events are only kept longer.
 *
 * @param queuedAtMs when nats-server received the message, by its clock.
 * @returns how many events were corrected.
 */
export function correctReceipts(
  { parts, traceNodes }: Pick<Group, 'parts' | 'traceNodes'>,
  queuedAtMs: number,
): number {
  const receivedAtMs = Math.min(queuedAtMs, Date.now());
  let corrected = 0;
  for (const received of [...parts, ...traceNodes]) {
    if (receivedAtMs - Number(received.receivedAtMs) <= clockDifferenceMsMax) continue;
    received.receivedAtMs = BigInt(receivedAtMs);
    if ('eventCount' in received) corrected += received.eventCount;
  }
  return corrected;
}
