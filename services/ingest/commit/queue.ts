import { jetstreamManager } from '@nats-io/jetstream';
import type { Config } from '../../../lib/config.ts';
import type { Logger } from '../../../lib/log.ts';
import { connectQueue } from '../../../lib/queue/connect.ts';
import { openPublisher } from '../../../lib/queue/failover.ts';
import { keepLeadersApart } from '../../../lib/queue/leader-placement.ts';
import { queueStreams } from '../../../lib/queue/settings.ts';
import { ensureStreams } from '../../../lib/queue/stream.ts';

/**
 * Opens the queue for publishing: connects, makes the streams where they are missing, and keeps their leaders apart.
 * What it opens goes onto `resources`.
 *
 * @throws ConfigError when nats-server is not reached, or cannot keep what it is given.
 */
export async function openQueue(
  config: Config & { NATS_URL: string },
  { log, resources }: { log: Logger; resources: AsyncDisposableStack },
) {
  const nats = resources.use(await connectQueue(config.NATS_URL, 'weir-ingest'));
  await ensureStreams(nats, config);
  const manager = await jetstreamManager(nats, { checkAPI: false });
  const streams = queueStreams(config);
  resources.use(keepLeadersApart(nats, manager, streams, log));
  const publisher = openPublisher(nats, streams, (loss) =>
    log.error({ err: loss }, 'ALARM: the queue lost accepted events; nothing is accepted until a restart'),
  );
  return { nats, manager, publisher };
}
