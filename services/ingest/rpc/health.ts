import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { HealthCheckResponse_ServingStatus as Status } from '../../../gen/grpc/health/v1/health_pb.ts';
import { IngestService } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { healthWatchMs } from '../../../lib/limits.ts';

interface Question {
  service: string;
}

/**
 * Implements grpc.health.v1.Health for the whole process, which is the empty name, and for our service: they are ready
 * together.
 *
 * @param findUnready what /readyz asks, too.
 */
export function createHealth(findUnready: () => Promise<string[]>) {
  const currentStatus = async () =>
    (await findUnready()).length === 0 ? Status.SERVING : Status.NOT_SERVING;
  return {
    async check({ service }: Question): Promise<{ status: Status }> {
      if (!isKnown(service)) throw new ConnectError('There is no service of this name.', Code.NotFound);
      return { status: await currentStatus() };
    },
    async *watch({ service }: Question, { signal }: HandlerContext): AsyncGenerator<{ status: Status }> {
      let told: Status | undefined;
      while (!signal.aborted) {
        const status = isKnown(service) ? await currentStatus() : Status.SERVICE_UNKNOWN;
        if (status !== told) yield { status };
        told = status;
        await sleep(healthWatchMs, undefined, { signal }).catch(() => {});
      }
      if (told === Status.SERVING) yield { status: Status.NOT_SERVING };
    },
  };
}

function isKnown(service: string): boolean {
  return service === '' || service === IngestService.typeName;
}
