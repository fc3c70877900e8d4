import type { JetStreamManager } from '@nats-io/jetstream';
import { startLoop } from '../../platform/background-loop.ts';
import type { Logger } from '../../platform/log.ts';
import { consumerFrom, consumerName, type QueueStream } from '../../platform/queue/settings.ts';
import { findIfExists } from '../../platform/queue/stream.ts';
import { undeletedPollMs, undeletedPolls } from './limits.ts';

/**
 * Removes acknowledged messages that are still in a stream: nats-server loses records of removals when its
 * disk is full, or its store was repaired, and never delivers the messages again. A new consumer does;
 * storing them a second time changes nothing (ADR 0004).
 */
export function clearUndeletedMessages(
  manager: JetStreamManager,
  stream: QueueStream,
  log: Logger,
): AsyncDisposable {
  let suspect = 0;
  let finds = 0;
  const run = async () => {
    const found = await findUndeletedMessages(manager, stream);
    // A message just acknowledged is about to be removed: act only if the next check finds it, too.
    finds = found !== 0 && found === suspect ? finds + 1 : 0;
    suspect = found;
    if (finds < undeletedPolls) return;
    finds = 0;
    log.warn(
      { stream: stream.name, sequence: found },
      'stored messages are still queued: recreating the consumer to deliver them again',
    );
    await renewConsumer(manager, stream);
  };
  const failure = `stored messages that are still in ${stream.name} were not looked for`;
  return startLoop({ run, intervalMs: undeletedPollMs, failure }, log);
}

/** The first sequence of the stream if its message will not be delivered again; otherwise 0. */
async function findUndeletedMessages(manager: JetStreamManager, { name }: QueueStream): Promise<number> {
  const { state } = await manager.streams.info(name);
  if (state.messages === 0) return 0;
  const consumer = await findIfExists(() => manager.consumers.info(name, consumerName));
  // A writer stopped between the two steps of renewConsumer.
  if (consumer === undefined) await manager.consumers.add(name, consumerFrom());
  if (consumer === undefined) return 0;
  const isDone = consumer.num_pending === 0 && consumer.num_ack_pending === 0;
  return isDone || state.first_seq <= consumer.ack_floor.stream_seq ? state.first_seq : 0;
}

async function renewConsumer(manager: JetStreamManager, { name }: QueueStream): Promise<void> {
  await manager.consumers.delete(name, consumerName);
  await manager.consumers.add(name, consumerFrom());
}
