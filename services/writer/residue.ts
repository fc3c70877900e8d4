import { setTimeout as sleep } from 'node:timers/promises';
import { type ConsumerInfo, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import { residueLookMs, residueLooks } from '../../lib/limits.ts';
import type { Logger } from '../../lib/log.ts';
import { consumerName, consumerSettings, type QueueStream } from '../../lib/queue/settings.ts';

export interface ResidueDependencies {
  manager: JetStreamManager;
  stream: QueueStream;
  log: Logger;
}

/**
 * Frees a stream of messages that were acknowledged and are still in it: a nats-server that could not write (a full
 * disk), or whose store was repaired, forgets that it had removed them. Nobody is delivered them any more, and they take
 * room for ever. A consumer made anew is delivered them once more; storing them again changes nothing (design §1.4).
 */
export function clearResidue({ manager, stream, log }: ResidueDependencies): AsyncDisposable {
  const stopping = new AbortController();
  const watching = (async () => {
    let suspect = 0;
    let looks = 0;
    while (!stopping.signal.aborted) {
      const found = await findResidue(manager, stream).catch(() => 0);
      // What has just been acknowledged is about to leave: only what stays is residue.
      looks = found !== 0 && found === suspect ? looks + 1 : 0;
      suspect = found;
      if (looks >= residueLooks) {
        looks = 0;
        log.warn(
          { stream: stream.name, sequence: found },
          'stored messages are still queued: they come again',
        );
        await renewConsumer(manager, stream).catch((error: unknown) =>
          log.warn({ err: error, stream: stream.name }, 'the consumer could not be made anew'),
        );
      }
      await sleep(residueLookMs, undefined, stopping).catch(() => {});
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await watching;
    },
  };
}

/** The first sequence of the stream, when its message is one that nobody will be delivered; 0 when there is none. */
async function findResidue(manager: JetStreamManager, { name }: QueueStream): Promise<number> {
  const { state } = await manager.streams.info(name);
  if (state.messages === 0) return 0;
  const consumer = await findConsumer(manager, name);
  // It went away between our two steps, or another writer's.
  if (consumer === undefined) await manager.consumers.add(name, { ...consumerSettings });
  if (consumer === undefined) return 0;
  const isDone = consumer.num_pending === 0 && consumer.num_ack_pending === 0;
  return isDone || state.first_seq <= consumer.ack_floor.stream_seq ? state.first_seq : 0;
}

function findConsumer(manager: JetStreamManager, stream: string): Promise<ConsumerInfo | undefined> {
  return manager.consumers.info(stream, consumerName).catch((error: unknown) => {
    if (error instanceof JetStreamApiError && error.status === 404) return undefined;
    throw error;
  });
}

async function renewConsumer(manager: JetStreamManager, { name }: QueueStream): Promise<void> {
  await manager.consumers.delete(name, consumerName);
  await manager.consumers.add(name, { ...consumerSettings });
}
