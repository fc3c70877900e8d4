import type { Json } from '../../../../event/json/json-value.ts';
import { asAttributes, asEnum, asId, asInteger, asList, asObject, asText } from './json-fields.ts';
import type { Span, SpanEvent, SpanLink, SpanSource } from './span.ts';
import { checkCount } from './span-count.ts';

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map(
  (kind) => `SPAN_KIND_${kind}`,
);
const statusCodes = ['UNSET', 'OK', 'ERROR'].map((code) => `STATUS_CODE_${code}`);

/** Reads a span of OTLP/JSON. @throws IngestError `invalid_request_body` */
export function readJsonSpan(json: Json): Span {
  const span = asObject(json, 'span');
  const status = asObject(span.status, 'status');
  const [events, links] = [asList(span.events, 'events'), asList(span.links, 'links')];
  return {
    traceId: asId(span.traceId, 'traceId'),
    spanId: asId(span.spanId, 'spanId'),
    parentSpanId: asId(span.parentSpanId, 'parentSpanId'),
    traceState: asText(span.traceState, 'traceState'),
    flags: asCount(span.flags, 'flags'),
    name: asText(span.name, 'name'),
    kind: asEnum(span.kind, 'kind', kinds),
    startNs: asInteger(span.startTimeUnixNano, 'startTimeUnixNano'),
    endNs: asInteger(span.endTimeUnixNano, 'endTimeUnixNano'),
    attributes: asAttributes(span.attributes),
    readEvents: () => readList(events, readEvent),
    readLinks: () => readList(links, readLink),
    status: {
      code: asEnum(status.code, 'code', statusCodes),
      message: asText(status.message, 'message'),
    },
    droppedAttributes: asCount(span.droppedAttributesCount, 'droppedAttributesCount'),
    droppedEvents: asCount(span.droppedEventsCount, 'droppedEventsCount'),
    droppedLinks: asCount(span.droppedLinksCount, 'droppedLinksCount'),
  };
}

/** Reads the resource and the scope of spans. @throws IngestError `invalid_request_body` */
export function readJsonSource(resourceSpans: Json, scopeSpans: Json): SpanSource {
  const { resource: resourceJson, schemaUrl: resourceSchemaUrl } = asObject(resourceSpans, 'resourceSpans');
  const { scope: scopeJson, schemaUrl } = asObject(scopeSpans, 'scopeSpans');
  const resource = asObject(resourceJson, 'resource');
  const scope = asObject(scopeJson, 'scope');
  return {
    resource: {
      attributes: asAttributes(resource.attributes),
      droppedAttributes: asCount(resource.droppedAttributesCount, 'droppedAttributesCount'),
      schemaUrl: asText(resourceSchemaUrl, 'schemaUrl'),
    },
    scope: {
      name: asText(scope.name, 'name'),
      version: asText(scope.version, 'version'),
      attributes: asAttributes(scope.attributes),
      droppedAttributes: asCount(scope.droppedAttributesCount, 'droppedAttributesCount'),
      schemaUrl: asText(schemaUrl, 'schemaUrl'),
    },
  };
}

function readList<T>(list: readonly Json[], read: (json: Json) => T): T[] {
  checkCount(list.length);
  return list.map(read);
}

function readEvent(json: Json): SpanEvent {
  const event = asObject(json, 'event');
  return {
    name: asText(event.name, 'name'),
    timeNs: asInteger(event.timeUnixNano, 'timeUnixNano'),
    attributes: asAttributes(event.attributes),
    droppedAttributes: asCount(event.droppedAttributesCount, 'droppedAttributesCount'),
  };
}

function readLink(json: Json): SpanLink {
  const link = asObject(json, 'link');
  return {
    traceId: asId(link.traceId, 'traceId'),
    spanId: asId(link.spanId, 'spanId'),
    traceState: asText(link.traceState, 'traceState'),
    flags: asCount(link.flags, 'flags'),
    attributes: asAttributes(link.attributes),
    droppedAttributes: asCount(link.droppedAttributesCount, 'droppedAttributesCount'),
  };
}

function asCount(json: Json | undefined, name: string): number {
  return Number(asInteger(json, name));
}
