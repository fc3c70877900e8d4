import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '../../../platform/log.ts';
import { discoverServices } from '../../../platform/queue/service-discovery.ts';
import { firstWorkQueue } from '../../../platform/queue/settings.ts';
import { checkStreams, type QueueConfig } from '../../../platform/queue/stream.ts';
import { readStreamStates, type StreamState } from '../../../store/queue-state/stream-state.ts';
import { unusedStreamMs } from '../limits.ts';

/**
 * Removes the streams of one kind when they are empty and ingests publish to the other kind (ADR 31). The
 * rest get all of QUEUE_BYTES_MAX. Safe in several writers at once.
 * @param unusedMs without a publish: an ingest that does not answer may still use the streams.
 */
export async function removeUnusedStreams(
  dependencies: { connection: NatsConnection; manager: JetStreamManager; config: QueueConfig; log: Logger },
  unusedMs = unusedStreamMs,
): Promise<void> {
  const { connection, manager, config, log } = dependencies;
  const states = await readStreamStates(manager);
  if (new Set(states.map(({ stream }) => stream.keepsStored)).size < 2) return;
  const ingests = (await discoverServices(connection)).filter(({ service }) => service === 'ingest');
  // Ingests of 0.1 do not say it.
  const published = new Set(ingests.flatMap(({ queueStreams }) => queueStreams ?? [firstWorkQueue.name]));
  for (const keepsStored of [false, true]) {
    const [kind, others] = [isOf(states, keepsStored), isOf(states, !keepsStored)];
    const isUsed = ({ stream }: StreamState) => published.has(stream.name);
    if (kind.some(isUsed) || !others.some(isUsed)) continue;
    if (!kind.every(({ messages, lastAt, nowMs }) => messages === 0 && nowMs - lastAt.getTime() > unusedMs))
      continue;
    for (const { stream } of kind) {
      await manager.streams.delete(stream.name);
      log.info({ stream: stream.name }, 'an empty stream of the queue that no ingest uses was removed');
    }
    await checkStreams(manager, config);
    return;
  }
}

function isOf(states: readonly StreamState[], keepsStored: boolean): StreamState[] {
  return states.filter(({ stream }) => stream.keepsStored === keepsStored);
}
