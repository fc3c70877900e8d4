import type { OwnSpans } from '../../platform/tracing/own-spans.ts';
import { parseTraceparent } from '../../platform/tracing/traceparent.ts';
import type { Delivered } from './delivered.ts';

/** Adds a span below a sampled `traceparent`, from delivery until the message is stored or given back. */
export function withSpan(message: Delivered, spans: OwnSpans): Delivered {
  const parent = parseTraceparent(message.readTraceparent());
  if (parent === undefined || !parent.isSampled) return message;
  const span = spans.start('store', parent, 'consumer');
  const { deliveries, data } = message;
  const end = (hasFailed: boolean) =>
    span.end({ 'weir.bytes': data.length, 'weir.deliveries': deliveries }, hasFailed);
  return {
    ...message,
    ack: () => {
      message.ack();
      end(false);
    },
    nak: (delayMs) => {
      message.nak(delayMs);
      end(true);
    },
  };
}
