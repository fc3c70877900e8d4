import type { Group } from '../../platform/queue/group.ts';
import { clockDifferenceMsMax } from '../../store/db/limits.ts';

/**
 * Corrects times of receipt that are too early: after a machine's suspension ingest accepts for up to two
 * seconds before it compares its clock. Events from days ago would expire at once, and the ledger reject a
 * retry. nats-server receives a message moments after its events, at a time that is the same at every
 * delivery; if its clock is ahead, events are only kept longer.
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
