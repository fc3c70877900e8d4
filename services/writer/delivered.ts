import { type Msg, nanos } from '@nats-io/transport-node';
import type { QueuePosition } from '../../lib/queue/failover.ts';

/** A queue message as the writer needs it: JetStream's acknowledgement protocol on one delivery. */
export interface Delivered {
  readonly data: Uint8Array;
  /** Where it is in the queue. */
  readonly position: QueuePosition;
  /** How often it has been delivered, this time included. */
  readonly deliveries: number;
  /** When nats-server took it, by its clock. */
  readonly queuedAtMs: number;
  /** It is stored: the stream may remove it. */
  ack(): void;
  /** It is not stored: deliver it again, after a delay. */
  nak(delayMs: number): void;
  /** It is being worked on: do not deliver it to another writer yet. */
  working(): void;
}

export function toDelivered(message: Msg): Delivered {
  return {
    data: message.data,
    ...readAckSubject(message.reply ?? ''),
    ack: () => void message.respond('+ACK'),
    nak: (delayMs) => void message.respond(`-NAK ${JSON.stringify({ delay: nanos(Math.round(delayMs)) })}`),
    working: () => void message.respond('+WPI'),
  };
}

/**
 * `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer sequence>.<nanoseconds>.<pending>` has nine tokens; where
 * nats-server puts its domain and account in front of the stream, there are two more.
 */
function readAckSubject(ackSubject: string): Pick<Delivered, 'position' | 'deliveries' | 'queuedAtMs'> {
  const tokens = ackSubject.split('.');
  const [stream = '', , deliveries, sequence, , nanoseconds] = tokens.slice(tokens.length > 9 ? 4 : 2);
  return {
    position: { stream, sequence: Number(sequence) || 0 },
    deliveries: Number(deliveries) || 1,
    queuedAtMs: Math.floor(Number(nanoseconds) / 1e6) || 0,
  };
}
