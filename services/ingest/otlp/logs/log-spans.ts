import { createHash } from 'node:crypto';
import type { Json } from '../../../../event/json/json-value.ts';
import type { SentNote } from '../../../../store/notes/evaluation-notes.ts';
import { logMessagesName } from '../../../../store/traces/merge/log-messages.ts';
import type { ReadLimits } from '../../read/batch-reader.ts';
import { type Attributes, lazyAttributes } from '../spans/attributes.ts';
import { openJsonRecords } from '../spans/json-spans.ts';
import { openProtobufRecords } from '../spans/protobuf-spans.ts';
import {
  type RecordRequest,
  type Span,
  type SpanEvent,
  type SpanRequest,
  UnstorableError,
  unsentFields,
} from '../spans/span.ts';
import { isCallRecord, momentOf, toCallSpan } from './call-records.ts';
import { evaluationName, toEvaluationNote } from './evaluation.ts';
import { type LogRecord, readJsonLog, readProtobufLog } from './log-record.ts';

/**
 * Opens an ExportLogsServiceRequest. Instrumentations that write the content of model calls to logs name the
 * span of the call in each record. The records of one span are read as one span below it, which has their
 * content: later it is merged into the call, as are those of other requests. A record that describes a whole
 * call without a span is read as the span of that call. Other records are left out.
 */
export function openProtobufLogs(bytes: Buffer, limits: ReadLimits): SpanRequest {
  return groupRecords(openProtobufRecords(bytes, limits, readProtobufLog));
}

export function openJsonLogs(bytes: Buffer, limits: ReadLimits): SpanRequest {
  const names = { resources: 'resourceLogs', scopes: 'scopeLogs', records: 'logRecords' };
  return groupRecords(openJsonRecords(bytes, limits, { names, readRecord: readJsonLog }));
}

/** An event with all of a call. */
const detailsName = 'gen_ai.client.inference.operation.details';
/** Events with a message each, or with the messages of one direction. */
const messageName =
  /^gen_ai\.(?:(?:system|user|assistant|tool)\.message|choice|content\.(?:prompt|completion))$/;
/** The operations of events that describe a model call. */
const callOperations = new Set<Json | undefined>([undefined, 'chat', 'text_completion', 'generate_content']);

function isOfCall({ name, spanId, traceId, attributes }: LogRecord): boolean {
  if (spanId === '' || traceId === '') return false;
  return (
    messageName.test(name) ||
    (name === detailsName && callOperations.has(attributes.get('gen_ai.operation.name')))
  );
}

function groupRecords({ count, bytesOf, read, readSource }: RecordRequest<LogRecord>): SpanRequest {
  const bySpan = new Map<string, number[]>();
  const calls: { index: number; moment: string | undefined }[] = [];
  const contents = new Map<string, number>();
  const evaluations: SentNote[] = [];
  for (let index = 0; index < count; index++) {
    const record = classify(read, index);
    if (record?.kind === 'ofSpan') bySpan.getOrInsert(record.key, []).push(index);
    if (record?.kind === 'call') calls.push({ index, moment: record.moment });
    if (record?.kind === 'content') contents.set(record.moment, index);
    if (record?.kind === 'evaluation') evaluations.push(record.note);
  }
  const lists = [
    ...bySpan.values(),
    ...calls.map(({ index, moment }) => {
      const content = moment === undefined ? undefined : contents.get(moment);
      // It is of one call: read for each of thousands at one moment, it would multiply the request.
      if (moment !== undefined) contents.delete(moment);
      return content === undefined ? [index] : [index, content];
    }),
  ];
  const at = (group: number) => {
    const list = lists[group];
    if (list === undefined) throw new Error(`there is no group ${group}`);
    return list;
  };
  return {
    count: lists.length,
    bytesOf: (group) => at(group).reduce((sum, index) => sum + bytesOf(index), 0),
    read: (group) => toSpan(at(group).map(read)),
    readSource: (group) => readSource(at(group)[0] ?? 0),
    evaluations,
  };
}

/** What a record is: of the call of a span, a whole call, or the content of one at the same moment. */
type RecordKind =
  | { readonly kind: 'ofSpan'; readonly key: string }
  | { readonly kind: 'call'; readonly moment: string | undefined }
  | { readonly kind: 'content'; readonly moment: string }
  | { readonly kind: 'evaluation'; readonly note: SentNote };

/** Whether a record that cannot be read is one of a call is not known: it is left out. */
function classify(read: (index: number) => LogRecord, index: number): RecordKind | undefined {
  try {
    const record = read(index);
    if (record.name === evaluationName) {
      const note = toEvaluationNote(record);
      return note && { kind: 'evaluation', note };
    }
    const moment = momentOf(record);
    if (isCallRecord(record)) return { kind: 'call', moment };
    if (record.name === detailsName && moment !== undefined) return { kind: 'content', moment };
    if (!isOfCall(record)) return undefined;
    // A span without a call of its own may have the details of several.
    const place = record.name === detailsName ? index : '';
    return { kind: 'ofSpan', key: `${record.traceId} ${record.spanId} ${place}` };
  } catch (error) {
    if (error instanceof UnstorableError) return undefined;
    throw error;
  }
}

function toSpan(records: readonly LogRecord[]): Span {
  const [first] = records;
  if (first === undefined) throw new Error('a group has no records');
  if (isCallRecord(first)) return toCallSpan(first, records[1]);
  const times = records.map(({ timeNs }) => timeNs).toSorted((a, b) => (a < b ? -1 : 1));
  const details = first.name === detailsName ? first : undefined;
  return {
    ...unsentFields,
    traceId: first.traceId,
    spanId: idOf(records),
    parentSpanId: first.spanId,
    name: details?.name ?? logMessagesName,
    startNs: times[0] ?? 0n,
    endNs: times.at(-1) || 1n,
    attributes: details === undefined ? ofMessages : attributesOf(details),
    readEvents: () => (details === undefined ? records.map(toEvent) : []),
  };
}

const ofMessages = lazyAttributes(new Map([['gen_ai.operation.name', 'chat']]), (value) => value);

/** An id of these log records, which they have again when they are sent again. */
function idOf(records: readonly LogRecord[]): string {
  const hash = createHash('sha256').update('weir-otlp-log-1');
  for (const { spanId, name, timeNs } of records) hash.update(`\n${spanId} ${name} ${timeNs}`);
  return hash.digest('hex').slice(0, 16);
}

/** Some instrumentations write the members of the event to the body. */
function attributesOf({ attributes, body }: LogRecord): Attributes {
  const inBody = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  const own = new Map<string, Json | undefined>([
    ['gen_ai.operation.name', 'chat'],
    ...Object.entries(inBody),
  ]);
  for (const name of attributes.names) own.set(name, attributes.get(name));
  return lazyAttributes(own, (value) => value ?? null);
}

function toEvent({ name, timeNs, attributes, body }: LogRecord): SpanEvent {
  const content = typeof body === 'string' ? body : body === null ? undefined : JSON.stringify(body);
  const values = new Map<string, Json>([['gen_ai.event.content', content ?? '']]);
  return {
    name,
    timeNs,
    attributes: content === undefined ? attributes : lazyAttributes(values, (value) => value),
    droppedAttributes: 0,
  };
}
