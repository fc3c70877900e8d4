import { CostlyBatchError, type ReadLimits } from '../../read/batch-reader.ts';
import { readEnd, WireReader } from '../../read/protobuf-wire.ts';
import { spanValuesMax } from '../limits.ts';
import { readText } from './any-value.ts';
import { explainMalformed } from './malformed.ts';
import { type FieldReaders, readFields } from './protobuf-fields.ts';
import { type MessageRange, readProtobufSource, type SourceRange } from './protobuf-source.ts';
import { readProtobufSpan } from './protobuf-span.ts';
import type { RecordRequest, SpanRequest, SpanSource } from './span.ts';
import { addSpan } from './span-count.ts';
import { tags } from './tags.ts';

/** One attribute is four fields: the KeyValue in its span, the key, the AnyValue, and the value in it. */
const fieldsPerValue = 4;

/**
 * Opens an ExportTraceServiceRequest in protobuf. Its spans are located, and read on access.
 * @throws IngestError `invalid_request_body`, or `batch_too_large` when there are too many spans.
 * @throws CostlyBatchError
 */
export function openProtobufSpans(bytes: Buffer, limits: ReadLimits): SpanRequest {
  return openProtobufRecords(bytes, limits, readProtobufSpan);
}

/**
 * Opens an ExportTraceServiceRequest, or an ExportLogsServiceRequest: the messages around their records have
 * the same fields with the same numbers. Throws what `openProtobufSpans` throws.
 */
export function openProtobufRecords<T>(
  bytes: Buffer,
  { valuesMax, recordsMax }: ReadLimits,
  readRecord: (reader: WireReader, end: number) => T,
): RecordRequest<T> {
  // With limits, one reader counts the fields of the whole request. Without limits, each span is counted
  // separately.
  const whole = new WireReader(bytes, fieldsPerValue * valuesMax);
  const spans: LocatedSpan[] = [];
  explainMalformed(() => readFields(whole, whole.len, requestFields, spans));
  if (spans.length > recordsMax) throw new CostlyBatchError();
  const read = <T>(range: MessageRange, readMessage: (reader: WireReader, end: number) => T): T => {
    const reader = Number.isFinite(valuesMax)
      ? whole
      : new WireReader(bytes, fieldsPerValue * spanValuesMax, whole.names);
    reader.pos = range.start;
    return explainMalformed(() => readMessage(reader, range.end));
  };
  const sources = new Map<SourceRange, SpanSource>();
  const at = (index: number) => {
    const span = spans[index];
    if (span === undefined) throw new Error(`there is no span ${index}`);
    return span;
  };
  return {
    count: spans.length,
    bytesOf: (index) => at(index).end - at(index).start,
    read: (index) => read(at(index), readRecord),
    readSource: (index) => {
      const range = at(index).source;
      const source = sources.get(range) ?? readProtobufSource(range, read);
      sources.set(range, source);
      return source;
    },
  };
}

interface LocatedSpan extends MessageRange {
  readonly source: SourceRange;
}

const requestFields: FieldReaders<LocatedSpan[]> = {
  [tags.request.resourceSpans]: (spans, reader, messageEnd) => {
    const resource = { schemaUrl: '' };
    readFields(reader, readEnd(reader, messageEnd), resourceSpansFields, { resource, spans });
  },
};

interface ResourceSpansDraft {
  readonly resource: SourceRange['resource'];
  readonly spans: LocatedSpan[];
}

const resourceSpansFields: FieldReaders<ResourceSpansDraft> = {
  [tags.resourceSpans.resource]: ({ resource }, reader, messageEnd) => {
    resource.description = skipMessage(reader, messageEnd);
  },
  [tags.resourceSpans.schemaUrl]: ({ resource }, reader, messageEnd) => {
    resource.schemaUrl = readText(reader, messageEnd);
  },
  [tags.resourceSpans.scopeSpans]: ({ resource, spans }, reader, messageEnd) => {
    const source: SourceRange = { resource, schemaUrl: '' };
    readFields(reader, readEnd(reader, messageEnd), scopeSpansFields, { source, spans });
  },
};

interface ScopeSpansDraft {
  readonly source: SourceRange;
  readonly spans: LocatedSpan[];
}

const scopeSpansFields: FieldReaders<ScopeSpansDraft> = {
  [tags.scopeSpans.scope]: ({ source }, reader, messageEnd) => {
    source.scope = skipMessage(reader, messageEnd);
  },
  [tags.scopeSpans.schemaUrl]: ({ source }, reader, messageEnd) => {
    source.schemaUrl = readText(reader, messageEnd);
  },
  [tags.scopeSpans.spans]: ({ source, spans }, reader, messageEnd) => {
    addSpan(spans, { ...skipMessage(reader, messageEnd), source });
  },
};

function skipMessage(reader: WireReader, messageEnd: number): MessageRange {
  const end = readEnd(reader, messageEnd);
  const start = reader.pos;
  reader.pos = end;
  return { start, end };
}
