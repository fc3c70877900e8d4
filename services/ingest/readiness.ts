import type { NatsConnection } from '@nats-io/transport-node';
import type { Sql } from '../../lib/db/connect.ts';
import type { Acknowledged } from '../../lib/queue/acknowledged.ts';
import { withTimeout } from '../../lib/timeout.ts';

/** How long a dependency may take to answer before it counts as away. */
const probeTimeoutMs = 1_000;

/** Asks what ingest depends on, and names what does not answer, or cannot be trusted any more. */
export function createReadiness(
  sql: Sql,
  nats: NatsConnection,
  acknowledged: Pick<Acknowledged, 'loss'>,
): () => Promise<string[]> {
  return async () => {
    const [postgres, queue] = await Promise.allSettled([
      withTimeout(probeTimeoutMs, sql`SELECT 1`),
      withTimeout(probeTimeoutMs, nats.flush()),
    ]);
    return [
      ...(postgres.status === 'rejected' ? ['postgres'] : []),
      ...(queue.status === 'rejected' ? ['nats'] : []),
      ...(acknowledged.loss === undefined ? [] : ['queue-loss']),
    ];
  };
}
