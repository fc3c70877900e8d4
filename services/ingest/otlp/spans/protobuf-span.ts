import { readEnd, type WireReader } from '../../read/protobuf-wire.ts';
import { readText } from './any-value.ts';
import { explainMalformed } from './malformed.ts';
import {
  type Attributed,
  attributeFields,
  type FieldReaders,
  field,
  fixed32,
  fixed64,
  int32,
  readAttributed,
  readFields,
  readId,
  uint32,
} from './protobuf-fields.ts';
import type { Span, SpanEvent, SpanLink } from './span.ts';
import { checkCount } from './span-count.ts';
import { tags } from './tags.ts';

/** A message that is being read. Its fields may come in any order. */
type Draft<T> = { -readonly [K in Exclude<keyof T, keyof Attributed>]: T[K] };
type SpanDraft = Draft<Omit<Span, 'readEvents' | 'readLinks' | 'status'>> & {
  /** The positions of their length prefixes. */
  events: number[];
  links: number[];
  status: StatusDraft;
};
type EventDraft = Draft<SpanEvent>;
type LinkDraft = Draft<SpanLink>;
interface StatusDraft {
  code: number;
  message: string;
}

/** Reads an opentelemetry.proto.trace.v1.Span up to `end`. */
export function readProtobufSpan(reader: WireReader, end: number): Span {
  const { events, links, ...span } = readAttributed<SpanDraft>(reader, end, spanFields, {
    traceId: '',
    spanId: '',
    parentSpanId: '',
    traceState: '',
    flags: 0,
    name: '',
    kind: 0,
    startNs: 0n,
    endNs: 0n,
    events: [],
    links: [],
    status: { code: 0, message: '' },
    droppedEvents: 0,
    droppedLinks: 0,
  });
  return {
    ...span,
    readEvents: () => readList(events, reader, readEvent),
    readLinks: () => readList(links, reader, readLink),
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

const spanFields: FieldReaders<SpanDraft & Attributed> = {
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

const eventFields: FieldReaders<EventDraft & Attributed> = {
  [tags.event.name]: field('name', readText),
  [tags.event.timeUnixNano]: field('timeNs', fixed64),
  ...attributeFields(tags.event),
};

function readEvent(reader: WireReader, end: number): SpanEvent {
  return readAttributed<EventDraft>(reader, end, eventFields, { name: '', timeNs: 0n });
}

const linkFields: FieldReaders<LinkDraft & Attributed> = {
  [tags.link.traceId]: field('traceId', readId),
  [tags.link.spanId]: field('spanId', readId),
  [tags.link.traceState]: field('traceState', readText),
  [tags.link.flags]: field('flags', fixed32),
  ...attributeFields(tags.link),
};

function readLink(reader: WireReader, end: number): SpanLink {
  return readAttributed<LinkDraft>(reader, end, linkFields, {
    traceId: '',
    spanId: '',
    traceState: '',
    flags: 0,
  });
}

const statusFields: FieldReaders<StatusDraft> = {
  [tags.status.code]: field('code', int32),
  [tags.status.message]: field('message', readText),
};

function readStatus(reader: WireReader, messageEnd: number): StatusDraft {
  return readFields(reader, readEnd(reader, messageEnd), statusFields, { code: 0, message: '' });
}
