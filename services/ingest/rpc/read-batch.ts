import { EventSchema } from '../../../gen/weir/ingest/v1/event_pb.ts';
import { IngestError } from '../../../lib/errors.ts';
import { type Projection, Projector } from '../../../lib/event/projection.ts';
import type { BatchRules } from '../../../lib/event/validate.ts';
import { isDeeperThan } from '../../../lib/json/depth.ts';
import type { Range } from '../../../lib/json/scan.ts';
import { eventsPerBatchMax, jsonDepthMax } from '../../../lib/limits.ts';
import { parseJson } from '../parse.ts';
import { compileJsonReader } from './json-reader.ts';
import { compileMessageReader, type JsonObject } from './message-reader.ts';
import { checkEnd, readEnd, skipField, WireReader } from './wire.ts';

/** A batch of messages, as it goes on: projected, and as the JSON body that would have brought the same events. */
export interface ReadMessageBatch {
  readonly projection: Projection;
  readonly body: Buffer;
}

/**
 * Reads, validates and projects a weir.ingest.v1.IngestEventsRequest. Each event becomes the object that the JSON API
 * would have parsed and passes the same validator; what is stored of it is that object as JSON, so that whoever reads
 * an event need not know how it came.
 *
 * @throws IngestError `invalid_request_body`, `invalid_event_batch`, `too_many_events`.
 */
export type MessageBatchReader = (bytes: Buffer) => ReadMessageBatch;

export function compileMessageBatchReader(rules: BatchRules): MessageBatchReader {
  const finish = createFinish(rules);
  const readEvent = compileMessageReader(EventSchema);
  return (bytes) => {
    const events = explainMalformed(() => locateEvents(bytes));
    const reader = new WireReader(bytes);
    return finish(events, ({ start, end }) => {
      reader.pos = start;
      return explainMalformed(() => readEvent(reader, end));
    });
  };
}

/** The same of a request in protobuf's JSON. */
export function compileJsonBatchReader(rules: BatchRules): MessageBatchReader {
  const finish = createFinish(rules);
  const readEvent = compileJsonReader(EventSchema);
  return (bytes) => {
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
    return finish(events, (event, index) => readEvent(event, `events[${index}]`));
  };
}

/** Event by event, and each let go: all of them at once would be what ingest's memory is measured by (ADR 0008). */
function createFinish({ isEvent, validateBatch }: BatchRules) {
  return <T>(sources: readonly T[], read: (source: T, index: number) => JsonObject): ReadMessageBatch => {
    const projector = new Projector();
    const texts = sources.map((source, index) => {
      const event = read(source, index);
      // The body and its array are two levels already. What is wrong, and with which event, is told by one place.
      if (!isEvent(event) || isDeeperThan(event, jsonDepthMax - 2)) {
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
function locateEvents(bytes: Buffer): Range[] {
  const events: Range[] = [];
  const reader = new WireReader(bytes);
  let count = 0;
  while (reader.pos < bytes.length) {
    const tag = reader.uint32();
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
    if (error instanceof IngestError) throw error;
    throw new IngestError('invalid_request_body', 'The message is not valid protobuf.', { cause: error });
  }
}
