import { expect } from 'vitest';
import { type RequestInit, type SpanInit, toOtlpJson, toProtobuf } from '../../../harness/fixtures/spans.ts';
import type { SpanBatch } from '../../../services/ingest/otlp/batch/span-batch.ts';
import { createSpanReaders } from '../../../services/ingest/otlp/batch/span-readers.ts';
import { unlimited } from '../../../services/ingest/read/batch-reader.ts';

const readers = createSpanReaders('weir', unlimited);

// biome-ignore lint/suspicious/noExplicitAny: events are any JSON.
export type MappedEvent = any;

/** Maps a request in both encodings and expects equal results. */
export function mapRequests(...requests: readonly RequestInit[]): SpanBatch & { events: MappedEvent[] } {
  const batch = readers.otlp(toProtobuf(...requests));
  const ofJson = readers.otlpJson(toOtlpJson(...requests));
  expect(ofJson.counts).toEqual(batch.counts);
  expect(ofJson.rejection).toEqual(batch.rejection);
  expect(textsOf(ofJson)).toEqual(textsOf(batch));
  return { ...batch, events: textsOf(batch).flatMap((text) => JSON.parse(text).events) };
}

/** Maps a request with one span to its one event. */
export function mapSpan(span: SpanInit, around: Omit<RequestInit, 'spans'> = {}): MappedEvent {
  const { events } = mapRequests({ ...around, spans: [span] });
  expect(events).toHaveLength(1);
  return events[0];
}

export function textsOf({ parts }: SpanBatch): string[] {
  return parts.map(({ body }) => body.toString());
}
