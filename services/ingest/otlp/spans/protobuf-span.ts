import { readEnd, type WireReader } from '../../read/protobuf-wire.ts';
import { readText } from './any-value.ts';
import { explainMalformed } from './malformed.ts';
import {
  AttributeCollector,
  type Attributed,
  attributeFields,
  type FieldReaders,
  field,
  fixed32,
  fixed64,
  readFields,
  readId,
  uint32,
} from './protobuf-fields.ts';
import type { Span, SpanEvent, SpanLink } from './span.ts';
import { checkCount } from './span-count.ts';
import { tags } from './tags.ts';

/** A message that is being read. Its fields may come in any order. */
type Draft<T> = { -readonly [K in keyof T]: T[K] } & Attributed;
type SpanDraft = Draft<Omit<Span, 'attributes' | 'readEvents' | 'readLinks' | 'status'>> & {
  /** The positions of their length prefixes. */
  events: number[];
  links: number[];
  status: StatusDraft;
};
type EventDraft = Draft<Omit<SpanEvent, 'attributes'>>;
type LinkDraft = Draft<Omit<SpanLink, 'attributes'>>;
interface StatusDraft {
  code: number;
  message: string;
}

/** Reads an opentelemetry.proto.trace.v1.Span up to `end`. */
export function readProtobufSpan(reader: WireReader, end: number): Span {
  const span = readFields(reader, end, spanFields, {
    traceId: '',
    spanId: '',
    parentSpanId: '',
    traceState: '',
    flags: 0,
    name: '',
    kind: 0,
    startNs: 0n,
    endNs: 0n,
    attributes: new AttributeCollector(),
    events: [],
    links: [],
    status: { code: 0, message: '' },
    droppedAttributes: 0,
    droppedEvents: 0,
    droppedLinks: 0,
  });
  return {
    ...span,
    attributes: span.attributes.toAttributes(reader),
    readEvents: () => readList(span.events, reader, readEvent),
    readLinks: () => readList(span.links, reader, readLink),
  };
}

function readList<T>(
  starts: readonly number[],
  reader: WireReader,
  read: (reader: WireReader, end: number) => T,
): T[] {
  checkCount(starts.length);
  return starts.map((start) => {
    reader.pos = start;
    return explainMalformed(() => read(reader, readEnd(reader, reader.len)));
  });
}

function int32(reader: WireReader): number {
  return reader.int32();
}

const spanFields: FieldReaders<SpanDraft> = {
  [tags.span.traceId]: field('traceId', readId),
  [tags.span.spanId]: field('spanId', readId),
  [tags.span.parentSpanId]: field('parentSpanId', readId),
  [tags.span.traceState]: field('traceState', readText),
  [tags.span.flags]: field('flags', fixed32),
  [tags.span.name]: field('name', readText),
  [tags.span.kind]: field('kind', int32),
  [tags.span.startTimeUnixNano]: field('startNs', fixed64),
  [tags.span.endTimeUnixNano]: field('endNs', fixed64),
  [tags.span.status]: field('status', readStatus),
  [tags.span.events]: ({ events }, reader, end) => skipMessage(reader, end, events),
  [tags.span.links]: ({ links }, reader, end) => skipMessage(reader, end, links),
  [tags.span.droppedEventsCount]: field('droppedEvents', uint32),
  [tags.span.droppedLinksCount]: field('droppedLinks', uint32),
  ...attributeFields(tags.span),
};

function skipMessage(reader: WireReader, messageEnd: number, starts: number[]): void {
  starts.push(reader.pos);
  reader.pos = readEnd(reader, messageEnd);
}

const eventFields: FieldReaders<EventDraft> = {
  [tags.event.name]: field('name', readText),
  [tags.event.timeUnixNano]: field('timeNs', fixed64),
  ...attributeFields(tags.event),
};

function readEvent(reader: WireReader, end: number): SpanEvent {
  const event = readFields(reader, end, eventFields, {
    name: '',
    timeNs: 0n,
    attributes: new AttributeCollector(),
    droppedAttributes: 0,
  });
  return { ...event, attributes: event.attributes.toAttributes(reader) };
}

const linkFields: FieldReaders<LinkDraft> = {
  [tags.link.traceId]: field('traceId', readId),
  [tags.link.spanId]: field('spanId', readId),
  [tags.link.traceState]: field('traceState', readText),
  [tags.link.flags]: field('flags', fixed32),
  ...attributeFields(tags.link),
};

function readLink(reader: WireReader, end: number): SpanLink {
  const link = readFields(reader, end, linkFields, {
    traceId: '',
    spanId: '',
    traceState: '',
    flags: 0,
    attributes: new AttributeCollector(),
    droppedAttributes: 0,
  });
  return { ...link, attributes: link.attributes.toAttributes(reader) };
}

const statusFields: FieldReaders<StatusDraft> = {
  [tags.status.code]: field('code', int32),
  [tags.status.message]: field('message', readText),
};

function readStatus(reader: WireReader, messageEnd: number): StatusDraft {
  return readFields(reader, readEnd(reader, messageEnd), statusFields, { code: 0, message: '' });
}
