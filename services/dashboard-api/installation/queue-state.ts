import { jetstreamManager } from '@nats-io/jetstream';
import type { Config } from '../../../platform/config.ts';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { discoverServices, type ServiceReport } from '../../../platform/queue/service-discovery.ts';
import { messageOf } from '../../../platform/thrown.ts';
import { openQueueFigures, type QueueFigures } from '../../../store/queue-state/queue-figures.ts';

/** What nats-server says: the queue, and the services that answer through it. */
export interface QueueState {
  readonly streams: QueueFigures[];
  readonly services: ServiceReport[];
}

/** nats-server does not answer, or is not configured. The message is for an operator. */
export class QueueAwayError extends Error {
  override name = 'QueueAwayError';
}

/**
 * Reads the state of the queue over a connection of its own: the one for notifications of stored events is made again in the background,
 * and its reads would wait for that.
 *
 * @throws QueueAwayError
 */
export async function readQueueState(config: Pick<Config, 'NATS_URL'>): Promise<QueueState> {
  if (config.NATS_URL === undefined)
    throw new QueueAwayError('NATS_URL is not set for the dashboard API, so it cannot ask nats-server.');
  await using connection = await connectQueue(config.NATS_URL, 'weir-dashboard-api-operator').catch(
    (cause: unknown) => {
      throw new QueueAwayError('nats-server does not answer: events are neither accepted nor stored.', {
        cause,
      });
    },
  );
  try {
    const readStreams = openQueueFigures(await jetstreamManager(connection, { checkAPI: false }));
    const [streams, services] = await Promise.all([readStreams(), discoverServices(connection)]);
    return { streams, services };
  } catch (error) {
    throw new QueueAwayError(`nats-server answers, but the queue cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
