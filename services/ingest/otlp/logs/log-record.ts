import type { Json } from '../../../../event/json/json-value.ts';
import { isSpanId } from '../../../../store/traces/span-tree.ts';
import { readEnd, type WireReader } from '../../read/protobuf-wire.ts';
import { isTraceId } from '../mapping/ids.ts';
import { readAnyValue, readText } from '../spans/any-value.ts';
import type { Attributes } from '../spans/attributes.ts';
import { anyValueToJson, asAttributes, asId, asInteger, asObject, asText } from '../spans/json-fields.ts';
import {
  type Attributed,
  attributeFields,
  type FieldReaders,
  field,
  fixed64,
  readAttributed,
  readId,
} from '../spans/protobuf-fields.ts';

/** A log record as it was sent. */
export interface LogRecord {
  /** Empty without a span, like the next. */
  readonly traceId: string;
  /** The span in which it was logged. */
  readonly spanId: string;
  /** Nanoseconds since the epoch. */
  readonly timeNs: bigint;
  /** The name of the event, in the attribute `event.name` or in the field; empty for a line of text. */
  readonly name: string;
  readonly attributes: Attributes;
  readonly body: Json;
}

/** Tags of the fields of opentelemetry.proto.logs.v1.LogRecord: field number × 8 + wire type. */
const logTags = {
  timeUnixNano: 9,
  body: 42,
  attributes: 50,
  droppedAttributesCount: 56,
  traceId: 74,
  spanId: 82,
  observedTimeUnixNano: 89,
  eventName: 98,
} as const;

interface Draft {
  traceId: string;
  spanId: string;
  timeNs: bigint;
  observedNs: bigint;
  eventName: string;
  body: Json;
}

const logFields: FieldReaders<Draft & Attributed> = {
  [logTags.timeUnixNano]: field('timeNs', fixed64),
  [logTags.observedTimeUnixNano]: field('observedNs', fixed64),
  [logTags.traceId]: field('traceId', readId),
  [logTags.spanId]: field('spanId', readId),
  [logTags.eventName]: field('eventName', readText),
  [logTags.body]: field('body', (reader, messageEnd) => readAnyValue(reader, readEnd(reader, messageEnd))),
  ...attributeFields(logTags),
};

/** Reads an opentelemetry.proto.logs.v1.LogRecord up to `end`. */
export function readProtobufLog(reader: WireReader, end: number): LogRecord {
  const draft = readAttributed<Draft>(reader, end, logFields, {
    traceId: '',
    spanId: '',
    timeNs: 0n,
    observedNs: 0n,
    eventName: '',
    body: null,
  });
  return toRecord(draft);
}

/** Reads a log record of OTLP/JSON. @throws IngestError `invalid_request_body` */
export function readJsonLog(json: Json): LogRecord {
  const record = asObject(json, 'logRecord');
  return toRecord({
    traceId: asId(record.traceId, 'traceId'),
    spanId: asId(record.spanId, 'spanId'),
    timeNs: asInteger(record.timeUnixNano, 'timeUnixNano'),
    observedNs: asInteger(record.observedTimeUnixNano, 'observedTimeUnixNano'),
    eventName: asText(record.eventName, 'eventName'),
    body: anyValueToJson(record.body),
    attributes: asAttributes(record.attributes),
  });
}

function toRecord({
  timeNs,
  observedNs,
  eventName,
  ...record
}: Draft & { attributes: Attributes }): LogRecord {
  const named = record.attributes.get('event.name');
  return {
    // Some exporters send zeros for a record without a span.
    traceId: isTraceId(record.traceId) ? record.traceId : '',
    spanId: isSpanId(record.spanId) ? record.spanId : '',
    body: record.body,
    attributes: record.attributes,
    timeNs: timeNs === 0n ? observedNs : timeNs,
    // Codex sends the place in its source in the field.
    name: typeof named === 'string' && named !== '' ? named : eventName,
  };
}
