import { EventSchema } from '../../../gen/weir/ingest/v1/event_pb.ts';
import { IngestError } from '../../../lib/errors.ts';
import { type Projection, Projector } from '../../../lib/event/projection.ts';
import type { BatchRules } from '../../../lib/event/validate.ts';
import { isDeeperThan } from '../../../lib/json/depth.ts';
import { eventsPerBatchMax, jsonDepthMax } from '../../../lib/limits.ts';
import { parseJson } from '../parse.ts';
import { compileJsonReader } from './json-reader.ts';
import { compileMessageReader, type JsonObject, type MessageReader } from './message-reader.ts';
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
  return (bytes) => finish(explainMalformed(() => readEvents(bytes, readEvent)));
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
    return finish(events.map((event, index) => readEvent(event, `events[${index}]`)));
  };
}

function createFinish({
  isEvent,
  validateBatch,
}: BatchRules): (events: readonly JsonObject[]) => ReadMessageBatch {
  return (events) => {
    const projector = new Projector();
    const texts: string[] = [];
    for (const event of events) {
      // The body and its array are two levels already. What is wrong, and with which event, is told by one place.
      if (!isEvent(event) || isDeeperThan(event, jsonDepthMax - 2)) validateBatch({ events });
      else projector.add(event);
      texts.push(JSON.stringify(event));
    }
    return { projection: projector.finish(), body: Buffer.from(`{"events":[${texts.join(',')}]}`) };
  };
}

/** `repeated Event events = 1` of IngestEventsRequest. */
const eventsTag = 10;

function readEvents(bytes: Buffer, readEvent: MessageReader): JsonObject[] {
  const count = countEvents(bytes);
  refuseTooMany(count);
  const events: JsonObject[] = [];
  walkEvents(bytes, (reader, end) => events.push(readEvent(reader, end)));
  return events;
}

function refuseTooMany(count: number): void {
  if (count <= eventsPerBatchMax) return;
  throw new IngestError(
    'too_many_events',
    `The batch has ${count} events; at most ${eventsPerBatchMax} are allowed in one request.`,
  );
}

/** The number of events decides before any of them is read: 413 comes before 400. */
function countEvents(bytes: Buffer): number {
  let count = 0;
  walkEvents(bytes, (reader, end) => {
    reader.pos = end;
    count += 1;
  });
  return count;
}

function walkEvents(bytes: Buffer, visit: (reader: WireReader, end: number) => void): void {
  const reader = new WireReader(bytes);
  while (reader.pos < bytes.length) {
    const tag = reader.uint32();
    if (tag === eventsTag) visit(reader, readEnd(reader, bytes.length));
    else skipField(reader, tag);
  }
  checkEnd(reader, bytes.length);
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
