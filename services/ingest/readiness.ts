import type { NatsConnection } from '@nats-io/transport-node';
import type { QueuePublisher } from '../../platform/queue/failover.ts';
import { requireWritable } from '../../platform/queue/nats-health.ts';
import type { MonitorConfig } from '../../platform/queue/sync-always.ts';
import { createReadiness, type FindUnready } from '../../platform/readiness.ts';
import type { CheckedClock } from '../../store/db/clock.ts';
import type { Sql } from '../../store/db/connect.ts';

/** The dependencies that readiness checks, as /readyz and the OpenAPI document name them. */
export const ingestDependencies = ['postgres', 'nats', 'clock', 'queue-loss', 'stopping'] as const;

type IngestDependency = (typeof ingestDependencies)[number];

/**
 * The readiness check of ingest. `clock` fails when the clocks of ingest and Postgres differ (ADR 0019).
 * `queue-loss` is an alarm: the queue lost accepted events (ADR 0012). `stopping` fails while the service
 * drains.
 */
export function createIngestReadiness(dependencies: {
  sql: Sql;
  nats: NatsConnection;
  config: MonitorConfig;
  clock: Pick<CheckedClock, 'nowMs'>;
  publisher: Pick<QueuePublisher, 'loss'>;
  stopping: AbortSignal;
}): FindUnready<IngestDependency> {
  const { sql, nats, config, clock, publisher, stopping } = dependencies;
  return createReadiness({
    postgres: () => sql`SELECT 1`,
    nats: () => requireWritable(nats, config),
    clock: () => clock.nowMs(),
    'queue-loss': () => {
      if (publisher.loss !== undefined) throw publisher.loss;
    },
    stopping: () => stopping.throwIfAborted(),
  });
}
