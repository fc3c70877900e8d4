import { randomUUID } from 'node:crypto';
import { fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { IngestEventsRequestSchema } from '../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { envelopeBytes } from '../../platform/limits.ts';

/**
 * Encodes events as a protobuf request.
 *
 * @returns a function that returns a copy of the request in which every event has a new id.
 */
export function prepareFreshMessages(events: readonly Buffer[]): () => Buffer {
  const json = { events: events.map((event) => toProtobufJson(JSON.parse(event.toString()))) };
  const message = fromJson(IngestEventsRequestSchema, json, { ignoreUnknownFields: true });
  const bytes = Buffer.from(toBinary(IngestEventsRequestSchema, message));
  const starts: number[] = [];
  for (const { id } of message.events) starts.push(bytes.indexOf(id, starts.at(-1) ?? 0, 'latin1'));
  return () => {
    const fresh = Buffer.from(bytes);
    for (const start of starts) fresh.write(randomUUID(), start, 'latin1');
    return fresh;
  };
}

/**
 * Converts an event of the JSON API to protobuf JSON, where the state is an enum and the payload a field of
 * the event.
 */
function toProtobufJson({ type, properties, status, ...event }: JsonObject): JsonObject {
  const { state, ...rest } = status as JsonObject;
  const payload = (properties as JsonObject)[String(type)] ?? {};
  return {
    ...event,
    status: { ...rest, state: `STATE_${String(state).toUpperCase()}` },
    [String(type)]: payload,
  };
}

/** Adds gRPC's framing: a byte of flags and the length. */
export function inEnvelope(message: Buffer): Buffer {
  const head = Buffer.alloc(envelopeBytes);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
