import { type Msg, nanos } from '@nats-io/transport-node';

/** A queue message as the writer needs it: JetStream's acknowledgement protocol on one delivery. */
export interface Delivered {
  readonly data: Uint8Array;
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
function readAckSubject(ackSubject: string): Pick<Delivered, 'deliveries' | 'queuedAtMs'> {
  const tokens = ackSubject.split('.');
  const first = tokens.length > 9 ? 6 : 4;
  return {
    deliveries: Number(tokens[first] ?? 1) || 1,
    queuedAtMs: Math.floor(Number(tokens[first + 3] ?? 0) / 1e6) || 0,
  };
}
