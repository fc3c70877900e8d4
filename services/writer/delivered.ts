import { type Msg, nanos } from '@nats-io/transport-node';
import type { QueuePosition } from '../../platform/queue/failover.ts';
import { traceparentHeader } from '../../platform/queue/stream-publisher.ts';

/** One delivery of a queue message, with JetStream's acknowledgements. */
export interface Delivered {
  readonly data: Uint8Array;
  readonly position: QueuePosition;
  /** Number of deliveries, including this one. */
  readonly deliveries: number;
  /** The time of receipt by nats-server, by its clock. */
  readonly queuedAtMs: number;
  /** The span that published it: the header `traceparent`. */
  readTraceparent(): string | undefined;
  /** The message is stored: the stream may remove it. */
  ack(): void;
  /** The message is not stored: deliver it again after the delay. */
  nak(delayMs: number): void;
  /** The message is still being stored: restart the ack wait. */
  working(): void;
}

export function toDelivered(message: Msg): Delivered {
  return {
    data: message.data,
    ...readAckSubject(message.reply ?? ''),
    readTraceparent: () => message.headers?.get(traceparentHeader),
    ack: () => void message.respond('+ACK'),
    nak: (delayMs) => void message.respond(`-NAK ${JSON.stringify({ delay: nanos(Math.round(delayMs)) })}`),
    working: () => void message.respond('+WPI'),
  };
}

/**
 * `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer sequence>.<nanoseconds>.<pending>`;
 * two more tokens when nats-server puts its domain and account before the stream.
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
