import { type Msg, nanos } from '@nats-io/transport-node';

/** A queue message as the writer needs it: JetStream's acknowledgement protocol on one delivery. */
export interface Delivered {
  readonly data: Uint8Array;
  /** It is stored: the stream may forget it. */
  ack(): void;
  /** It is not stored: deliver it again, after a delay. */
  nak(delayMs: number): void;
  /** It is in hand: do not deliver it to anybody else yet. */
  working(): void;
}

export function toDelivered(message: Msg): Delivered {
  return {
    data: message.data,
    ack: () => void message.respond('+ACK'),
    nak: (delayMs) => void message.respond(`-NAK ${JSON.stringify({ delay: nanos(Math.round(delayMs)) })}`),
    working: () => void message.respond('+WPI'),
  };
}
