import type { NatsConnection } from '@nats-io/transport-node';
import type { QueuePosition } from '../../lib/queue/failover.ts';
import { withTimeout } from '../../lib/timeout.ts';

/** What was accepted for a space with a limit. */
export interface Acceptance {
  spaceId: string;
  events: number;
  position: QueuePosition;
}

/** What ingest processes tell each other about the spaces with a limit (ADR 0007). */
export interface AcceptanceExchange {
  /** Calls back with what others accept. */
  listen(onAcceptance: (acceptance: Acceptance) => void): void;
  /** Tells the others. Resolves when nats-server has passed it on, or is not there to do so. */
  announce(acceptance: Acceptance): Promise<void>;
  /** Resolves when everything has been heard that was announced before, or nats-server is not there. */
  caughtUp(): Promise<void>;
}

/** Not in the queue: it is for who listens at this moment. */
const subject = 'weir.accepted';

/** How long a request waits for the exchange at most. Beyond it the counts in the database have to do. */
const exchangeTimeoutMs = 250;

export function openAcceptances(connection: NatsConnection): AcceptanceExchange {
  const self = crypto.randomUUID();
  // A round trip: nats-server handles what a connection sends, and sends to it, in order.
  const flush = () => withTimeout(exchangeTimeoutMs, connection.flush()).catch(() => {});
  return {
    listen(onAcceptance) {
      connection.subscribe(subject, {
        callback(error, message) {
          if (error !== null) return;
          const { from, ...acceptance } = message.json<Acceptance & { from: string }>();
          if (from !== self) onAcceptance(acceptance);
        },
      });
    },
    announce(acceptance) {
      connection.publish(subject, JSON.stringify({ ...acceptance, from: self }));
      return flush();
    },
    caughtUp: flush,
  };
}
