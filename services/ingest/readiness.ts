import type { NatsConnection } from '@nats-io/transport-node';
import type { Sql } from '../../lib/db/connect.ts';
import type { QueuePublisher } from '../../lib/queue/failover.ts';
import { shareAnswer } from '../../lib/shared-answer.ts';
import { withTimeout } from '../../lib/timeout.ts';

/** How long a dependency may take to answer before it counts as away. */
const probeTimeoutMs = 1_000;

/** Anybody may ask, without a key: however often that is, Postgres and nats-server are asked four times a second. */
const reuseMs = 250;

/** Asks what ingest depends on, and names what does not answer, or cannot be trusted any more. */
export function createReadiness(
  sql: Sql,
  nats: NatsConnection,
  publisher: Pick<QueuePublisher, 'loss'>,
): () => Promise<string[]> {
  return shareAnswer(reuseMs, async () => {
    const [postgres, queue] = await Promise.allSettled([
      withTimeout(probeTimeoutMs, sql`SELECT 1`),
      withTimeout(probeTimeoutMs, nats.flush()),
    ]);
    return [
      ...(postgres.status === 'rejected' ? ['postgres'] : []),
      ...(queue.status === 'rejected' ? ['nats'] : []),
      ...(publisher.loss === undefined ? [] : ['queue-loss']),
    ];
  });
}
