import { EventSchema } from '../../../gen/weir/ingest/v1/event_pb.ts';
import { IngestError } from '../../../lib/errors.ts';
import { Projector } from '../../../lib/event/projection.ts';
import type { BatchRules } from '../../../lib/event/validate.ts';
import { isDeeperThan } from '../../../lib/json/depth.ts';
import { noFindings, type Range, skipSpace, skipValue } from '../../../lib/json/scan.ts';
import { eventsPerBatchMax, jsonDepthMax } from '../../../lib/limits.ts';
import { parseJson } from '../parse.ts';
import { CostlyBatchError, type ReadLimits } from '../read-limits.ts';
import type { BatchReader, ReadBatch } from '../readers.ts';
import { compileJsonReader } from './json-reader.ts';
import { compileMessageReader, type JsonObject } from './message-reader.ts';
import { checkEnd, readEnd, skipField, WireReader } from './wire.ts';

/**
 * Compiles the reader of a weir.ingest.v1.IngestEventsRequest. Each event becomes the object that the JSON API
 * would have parsed and passes the same validator; what is stored of it is that object as JSON, so that whoever reads
 * an event need not know how it came.
 */
export function compileMessageBatchReader(rules: BatchRules, limits: ReadLimits): BatchReader {
  const finish = createFinish(rules, limits);
  const readEvent = compileMessageReader(EventSchema);
  // A member of a google.protobuf.Struct: an entry, its key, its value, and the kind of that.
  const fieldsMax = 4 * limits.valuesMax;
  return (bytes) => {
    const events = explainMalformed(() => locateEvents(bytes, fieldsMax));
    const reader = new WireReader(bytes, fieldsMax);
    return finish(bytes, events, ({ start, end }) => {
      reader.pos = start;
      return explainMalformed(() => readEvent(reader, end));
    });
  };
}

/** The same of a request in protobuf's JSON. */
export function compileJsonBatchReader(rules: BatchRules, limits: ReadLimits): BatchReader {
  const finish = createFinish(rules, limits);
  const readEvent = compileJsonReader(EventSchema);
  return (bytes) => {
    if (bytes.length > limits.badBytesMax && !isCheap(bytes, limits.valuesMax)) throw new CostlyBatchError();
    const json = parseJson(bytes);
    if (isDeeperThan(json, jsonDepthMax)) {
      throw new IngestError(
        'invalid_event_batch',
        `The message is nested deeper than ${jsonDepthMax} levels.`,
      );
    }
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
    const events = isObject ? ((json as { events?: unknown }).events ?? []) : undefined;
    if (!Array.isArray(events)) {
      throw new IngestError('invalid_event_batch', 'The message must be an object, and its events an array.');
    }
    refuseTooMany(events.length);
    return finish(bytes, events, (event, index) => readEvent(event, `events[${index}]`));
  };
}

/** Event by event, and each let go: all of them at once would be what ingest's memory is measured by (ADR 0008). */
function createFinish({ isEvent, validateBatch }: BatchRules, { badBytesMax }: ReadLimits) {
  return <T>(
    bytes: Buffer,
    sources: readonly T[],
    read: (source: T, index: number) => JsonObject,
  ): ReadBatch => {
    const projector = new Projector();
    const texts = sources.map((source, index) => {
      const event = read(source, index);
      // The body and its array are two levels already. What is wrong, and with which event, is told by one place.
      if (!isEvent(event) || isDeeperThan(event, jsonDepthMax - 2)) {
        if (bytes.length > badBytesMax) throw new CostlyBatchError();
        validateBatch({ events: sources.map(read) });
      } else {
        projector.add(event);
      }
      return JSON.stringify(event);
    });
    return { projection: projector.finish(), body: toBody(texts) };
  };
}

/** Written where it stays: joined as text, a batch of 3 MB would be there three times. */
function toBody(texts: readonly string[]): Buffer {
  const pieces = texts.flatMap((text, index) => (index === 0 ? [text] : [',', text]));
  pieces.unshift('{"events":[');
  pieces.push(']}');
  const body = Buffer.allocUnsafeSlow(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0));
  let end = 0;
  for (const piece of pieces) end += body.write(piece, end);
  return body;
}

/** Whether JSON is quickly parsed: it nests no deeper than it may, and has few values. */
function isCheap(bytes: Buffer, valuesMax: number): boolean {
  try {
    skipValue(bytes, skipSpace(bytes, 0), noFindings(valuesMax));
    return true;
  } catch {
    return false;
  }
}

/** `repeated Event events = 1` of IngestEventsRequest. */
const eventsTag = 10;

function refuseTooMany(count: number): void {
  if (count <= eventsPerBatchMax) return;
  throw new IngestError(
    'too_many_events',
    `The batch has ${count} events; at most ${eventsPerBatchMax} are allowed in one request.`,
  );
}

/**
 * Where the events of a request are. Their number decides before any of them is read: 413 comes before 400.
 *
 * @throws IngestError `too_many_events`
 */
function locateEvents(bytes: Buffer, fieldsMax: number): Range[] {
  const events: Range[] = [];
  const reader = new WireReader(bytes, fieldsMax);
  let count = 0;
  while (reader.pos < bytes.length) {
    const tag = reader.nextTag();
    if (tag !== eventsTag) {
      skipField(reader, tag);
      continue;
    }
    const end = readEnd(reader, bytes.length);
    count += 1;
    if (count <= eventsPerBatchMax) events.push({ start: reader.pos, end });
    reader.pos = end;
  }
  checkEnd(reader, bytes.length);
  refuseTooMany(count);
  return events;
}

/** Reading protobuf throws errors of many kinds: they all mean that the bytes are no message. */
function explainMalformed<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof IngestError || error instanceof CostlyBatchError) throw error;
    throw new IngestError('invalid_request_body', 'The message is not valid protobuf.', { cause: error });
  }
}
