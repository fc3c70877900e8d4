import { exactInteger } from '../../../../event/json/exact-json.ts';
import type { Json, JsonObject } from '../../../../event/json/json-value.ts';
import { attributesToJson } from '../spans/attributes.ts';
import type { Span, SpanEvent, SpanLink, SpanSource } from '../spans/span.ts';
import { filled } from './json-object.ts';
import type { EventMessages } from './messages/event-messages.ts';

/** The parts of a span that are mapped already. */
export interface RestParts extends Pick<EventMessages, 'taken'> {
  /** The attributes that no field has taken. */
  readonly attributes: JsonObject;
  /** The result of `mapSource` for the span's source. */
  readonly source: JsonObject;
  readonly events: readonly SpanEvent[];
}

/** The data of a span that no field of the event holds: `properties.<type>.otel`. */
export function mapRest(span: Span, { attributes, source, events, taken }: RestParts): JsonObject {
  const { code, message } = span.status;
  return filled({
    name: span.name,
    kind: span.kind,
    traceState: span.traceState,
    flags: span.flags,
    startTimeUnixNano: exactInteger(span.startNs),
    endTimeUnixNano: exactInteger(span.endNs),
    status: filled({ code, message }),
    attributes,
    droppedAttributesCount: span.droppedAttributes,
    events: events.map((event) => mapEvent(event, taken.get(event))),
    droppedEventsCount: span.droppedEvents,
    links: span.readLinks().map(mapLink),
    droppedLinksCount: span.droppedLinks,
    ...source,
  });
}

/** Maps the resource and the scope, which all spans of one library share. */
export function mapSource({ resource, scope }: SpanSource): JsonObject {
  return filled({
    scope: filled({
      name: scope.name,
      version: scope.version,
      attributes: attributesToJson(scope.attributes),
      droppedAttributesCount: scope.droppedAttributes,
      schemaUrl: scope.schemaUrl,
    }),
    resource: filled({
      attributes: attributesToJson(resource.attributes),
      droppedAttributesCount: resource.droppedAttributes,
      schemaUrl: resource.schemaUrl,
    }),
  });
}

function mapEvent(event: SpanEvent, taken?: ReadonlySet<string>): Json {
  return filled({
    name: event.name,
    timeUnixNano: exactInteger(event.timeNs),
    attributes: attributesToJson(event.attributes, taken),
    droppedAttributesCount: event.droppedAttributes,
  });
}

function mapLink(link: SpanLink): Json {
  return filled({
    traceId: link.traceId,
    spanId: link.spanId,
    traceState: link.traceState,
    flags: link.flags,
    attributes: attributesToJson(link.attributes),
    droppedAttributesCount: link.droppedAttributes,
  });
}
