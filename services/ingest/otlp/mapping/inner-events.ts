import type { JsonObject } from '../../../../event/json/json-value.ts';
import type { Span } from '../spans/span.ts';
import { eventIdOf, hashOf } from './ids.ts';
import { membersOf } from './json-object.ts';
import { readInnerCalls } from './usage/iterations.ts';
import { composeUsage } from './usage/usage.ts';

/**
 * Events of the calls of other models that a provider made within the call of a span: they have prices of
 * their own. Each has the times of the whole call. Its id depends on the response, which several libraries
 * may send: it is stored once.
 * @param event that of the span.
 */
export function toInnerEvents(event: JsonObject, { attributes, traceId, spanId }: Span) {
  const properties = membersOf(event.properties);
  const additional = membersOf(event.additionalProperties);
  const { responseId = spanId } = membersOf(properties.llm);
  return readInnerCalls(attributes).map(({ model, counts }, place) => {
    const ownSpanId = hashOf(['inner', responseId, place]).replaceAll('-', '').slice(0, 16);
    return {
      spanId: ownSpanId,
      event: {
        ...event,
        id: eventIdOf(traceId, ownSpanId),
        status: { state: 'ok' },
        additionalProperties: {
          ...additional,
          'otel.span_id': ownSpanId,
          'otel.parent_span_id': spanId,
          'otel.parent_event_id': event.id ?? '',
        },
        properties: { llm: { model, usage: composeUsage(counts, false) } },
      },
    };
  });
}
