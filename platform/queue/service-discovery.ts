import { createHmac } from 'node:crypto';
import { errors, type Msg, type NatsConnection } from '@nats-io/transport-node';
import type { BusiestSpace } from '../metrics/space-metrics.ts';
import { discoveryMs } from './limits.ts';

/** A core NATS subject: running services answer requests on it, for `weir doctor`. */
const subject = 'weir.services';

export interface ServiceReport {
  /** `ingest`, `writer` or `dashboard-api`. */
  readonly service: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly schema: string;
  /** See {@link fingerprintOf}; undefined for a service without API_KEY_PEPPER. */
  readonly pepperFingerprint?: string | undefined;
  /** The streams that an ingest publishes to. Weir 0.1 does not say it. */
  readonly queueStreams?: readonly string[] | undefined;
  /** ISO 8601; undefined without a certificate. */
  readonly certificateExpiresAt?: string | undefined;
  /** The space with most bytes in ingest, most events in a writer, or most time in the dashboard API. */
  readonly busiest?: BusiestSpace | undefined;
  /** The service's clock, in milliseconds since the epoch. */
  readonly nowMs: number;
  readonly metricsUrl: string;
}

/** Answers service discovery for as long as the connection is open. */
export function answerDiscovery(connection: NatsConnection, report: () => ServiceReport): void {
  connection.subscribe(subject, {
    callback: (error: Error | null, message: Msg) => {
      if (error === null) message.respond(JSON.stringify(report()));
    },
  });
}

/** The services that answer within `discoveryMs`. */
export async function discoverServices(connection: NatsConnection): Promise<ServiceReport[]> {
  const reports: ServiceReport[] = [];
  try {
    const answers = await connection.requestMany(subject, '', { strategy: 'timer', maxWait: discoveryMs });
    for await (const answer of answers)
      if (answer.data.length > 0) reports.push(answer.json<ServiceReport>());
  } catch (error) {
    // nats-server answers itself when no service is connected.
    if (!isNoResponders(error)) throw error;
  }
  return reports.toSorted((a, b) => key(a).localeCompare(key(b)));
}

function isNoResponders(error: unknown): boolean {
  return (
    error instanceof errors.NoRespondersError ||
    (error instanceof errors.RequestError && error.isNoResponders())
  );
}

const key = ({ service, host, pid }: ServiceReport) => `${service} ${host} ${pid}`;

/** Tells two peppers apart without revealing them: 32 bits of an HMAC. */
export function fingerprintOf(pepper: string): string {
  return createHmac('sha256', pepper).update('weir pepper fingerprint').digest('hex').slice(0, 8);
}
