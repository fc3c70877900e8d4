import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { HealthCheckResponse_ServingStatus as Status } from '../../../gen/grpc/health/v1/health_pb.ts';
import { IngestService } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import type { FindUnready } from '../../../platform/readiness.ts';
import { StatusMonitor } from './status-monitor.ts';

/**
 * Most Health.Watch streams at a time, since they need no API key: half of what all clients without a valid
 * key may occupy, so that Check still answers. Each costs some 10 KB. gRPC clients with health checks open
 * one for each connection.
 */
export const healthWatchersMax = 500;

export type HealthService = ReturnType<typeof createHealth>;

/**
 * Implements grpc.health.v1.Health for the whole process (the empty name) and for our service: they are ready
 * together. Load balancers call it without an API key, so it is bounded: at most `healthWatchersMax` Watch
 * streams, which share one StatusMonitor. Disposing it ends all of them, with NOT_SERVING.
 * @param findUnready the readiness check that /readyz uses.
 */
export function createHealth(findUnready: FindUnready) {
  const readStatus = async () => ((await findUnready()).length === 0 ? Status.SERVING : Status.NOT_SERVING);
  const monitor = new StatusMonitor(readStatus);
  let watchers = 0;
  return {
    async check({ service }: { service: string }) {
      if (!isKnown(service)) throw new ConnectError('There is no service of this name.', Code.NotFound);
      return { status: await readStatus() };
    },
    async *watch({ service }: { service: string }, { signal }: Pick<HandlerContext, 'signal'>) {
      if (watchers >= healthWatchersMax) {
        throw new ConnectError('Too many Watch streams are open. Use Check.', Code.ResourceExhausted);
      }
      watchers += 1;
      try {
        let sent: Status | undefined;
        for await (const current of monitor.watch(signal)) {
          const status = isKnown(service) ? current : Status.SERVICE_UNKNOWN;
          if (status === sent) continue;
          sent = status;
          yield { status };
        }
        if (sent === Status.SERVING && !signal.aborted) yield { status: Status.NOT_SERVING };
      } finally {
        watchers -= 1;
      }
    },
    [Symbol.dispose]: () => monitor[Symbol.dispose](),
  };
}

function isKnown(service: string): boolean {
  return service === '' || service === IngestService.typeName;
}
