import type { NatsConnection } from '@nats-io/transport-node';
import type { Sql } from '../../lib/db/connect.ts';
import { createReadiness, type FindUnready } from '../../lib/http/readiness.ts';
import type { QueuePublisher } from '../../lib/queue/failover.ts';

/** What ingest waits for while it is not ready: the names in the response of /readyz, and in the OpenAPI document. */
export const ingestDependencies = ['postgres', 'nats', 'queue-loss'] as const;

type IngestDependency = (typeof ingestDependencies)[number];

/** The readiness check of ingest. `queue-loss` is an alarm: the queue lost accepted events (ADR 0012). */
export function createIngestReadiness(
  sql: Sql,
  nats: NatsConnection,
  publisher: Pick<QueuePublisher, 'loss'>,
): FindUnready<IngestDependency> {
  return createReadiness({
    postgres: () => sql`SELECT 1`,
    nats: () => nats.flush(),
    'queue-loss': () => {
      if (publisher.loss !== undefined) throw publisher.loss;
    },
  });
}
