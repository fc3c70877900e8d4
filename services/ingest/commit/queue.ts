import { jetstreamManager } from '@nats-io/jetstream';
import type { Config } from '../../../platform/config.ts';
import type { Logger } from '../../../platform/log.ts';
import { connectQueue } from '../../../platform/queue/connect.ts';
import { openPublisher } from '../../../platform/queue/failover.ts';
import { keepLeadersApart } from '../../../platform/queue/leader-placement.ts';
import { ensureStreams } from '../../../platform/queue/stream.ts';

/**
 * Opens the queue for publishing: connects, creates missing streams, and keeps their leaders on different
 * servers. Everything that must be released is added to `resources`.
 * @throws ConfigError when nats-server is unreachable, or cannot store the queue.
 */
export async function openQueue(
  config: Config & { NATS_URL: string },
  { log, resources }: { log: Logger; resources: AsyncDisposableStack },
) {
  const nats = resources.use(await connectQueue(config.NATS_URL, 'weir-ingest'));
  const streams = await ensureStreams(nats, config);
  const manager = await jetstreamManager(nats, { checkAPI: false });
  resources.use(keepLeadersApart({ connection: nats, manager, streams }, log));
  const publisher = openPublisher(nats, streams, (loss) =>
    log.error({ err: loss }, 'ALARM: the queue lost accepted events; nothing is accepted until a restart'),
  );
  return { nats, manager, streams, publisher };
}
