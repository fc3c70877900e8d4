import { IngestError } from '../../../event/errors.ts';
import { isDeeperThan } from '../../../event/json/depth.ts';
import { newScanState, type Range, skipSpace, skipValue } from '../../../event/json/scan.ts';
import { Projector } from '../../../event/projection.ts';
import { joinTexts } from '../../../event/segment/batch-body.ts';
import type { BatchRules } from '../../../event/validate.ts';
import { EventSchema } from '../../../gen/weir/ingest/v1/event_pb.ts';
import { eventsPerBatchMax, jsonDepthMax } from '../../../platform/limits.ts';
import { type BatchReader, CostlyBatchError, type ReadBatch, type ReadLimits } from './batch-reader.ts';
import { parseBody, withoutBom } from './parse-body.ts';
import { compileProtobufJsonReader } from './protobuf-json-message.ts';
import { compileProtobufReader, type JsonObject } from './protobuf-message.ts';
import { checkEnd, readEnd, skipField, WireReader } from './protobuf-wire.ts';

/**
 * Creates the reader of a weir.ingest.v1.IngestEventsRequest in protobuf. Each event becomes the object that
 * the JSON API would have parsed and passes the same validator. It is stored as JSON, so that stored events
 * do not depend on the protocol (ADR 0010).
 */
export function createProtobufBatchReader(rules: BatchRules, limits: ReadLimits): BatchReader {
  const finishBatch = createFinish(rules, limits);
  const readEvent = compileProtobufReader(EventSchema);
  // A member of a google.protobuf.Struct is four fields: entry, key, value, and the value's kind.
  const fieldsMax = 4 * limits.valuesMax;
  return (bytes) => {
    const events = explainMalformed(() => locateEvents(bytes, fieldsMax));
    const reader = new WireReader(bytes, fieldsMax);
    return finishBatch(bytes, events, ({ start, end }) => {
      reader.pos = start;
      return explainMalformed(() => readEvent(reader, end));
    });
  };
}

/** Creates the reader of the same request in protobuf's JSON. */
export function createProtobufJsonBatchReader(rules: BatchRules, limits: ReadLimits): BatchReader {
  const finishBatch = createFinish(rules, limits);
  const readEvent = compileProtobufJsonReader(EventSchema);
  return (sent) => {
    const bytes = withoutBom(sent);
    if (bytes.length > limits.badBytesMax && !hasFewValues(bytes, limits.valuesMax))
      throw new CostlyBatchError();
    const json = parseBody(bytes);
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
    checkCount(events.length);
    return finishBatch(bytes, events, (event, index) => readEvent(event, `events[${index}]`));
  };
}

/** Reads, validates and projects event by event, so that each is released before the next one (ADR 0008). */
function createFinish({ isEvent, validateBatch }: BatchRules, { badBytesMax }: ReadLimits) {
  return <T>(
    bytes: Buffer,
    sources: readonly T[],
    read: (source: T, index: number) => JsonObject,
  ): ReadBatch => {
    const projector = new Projector();
    const texts = sources.map((source, index) => {
      const event = read(source, index);
      // The body and its array are two levels around the event.
      if (!isEvent(event) || isDeeperThan(event, jsonDepthMax - 2)) {
        if (bytes.length > badBytesMax) throw new CostlyBatchError();
        // Throws the error that names every violation.
        validateBatch({ events: sources.map(read) });
      } else {
        projector.add(event);
      }
      return JSON.stringify(event);
    });
    return { projection: projector.finish(), body: joinTexts(texts) };
  };
}

/** Whether JSON is cheap to parse: not nested too deep, and at most `valuesMax` values. */
function hasFewValues(bytes: Buffer, valuesMax: number): boolean {
  try {
    skipValue(bytes, skipSpace(bytes, 0), newScanState(valuesMax));
    return true;
  } catch {
    return false;
  }
}

/** `repeated Event events = 1` of IngestEventsRequest. */
const eventsTag = 10;

function checkCount(count: number): void {
  if (count <= eventsPerBatchMax) return;
  throw new IngestError(
    'too_many_events',
    `The batch has ${count} events; at most ${eventsPerBatchMax} are allowed in one request.`,
  );
}

/**
 * Locates the events of a request. They are counted before any is read, so that 413 takes precedence over
 * 400.
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
  checkCount(count);
  return events;
}

/** Turns the errors of reading protobuf, which have many classes, into `invalid_request_body`. */
function explainMalformed<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof IngestError || error instanceof CostlyBatchError) throw error;
    throw new IngestError('invalid_request_body', 'The message is not valid protobuf.', { cause: error });
  }
}
