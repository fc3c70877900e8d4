import { expect } from 'vitest';
import { parseExactJson, stringifyExact } from '../../../event/json/exact-json.ts';
import type { JsonObject } from '../../../event/json/json-value.ts';
import { type LogInit, toJsonLogs, toProtobufLogs } from '../../../harness/fixtures/logs.ts';
import { type RequestInit, type SpanInit, toOtlpJson, toProtobuf } from '../../../harness/fixtures/spans.ts';
import type { SpanBatch } from '../../../services/ingest/otlp/batch/span-batch.ts';
import { createSpanReaders } from '../../../services/ingest/otlp/batch/span-readers.ts';
import { unlimited } from '../../../services/ingest/read/batch-reader.ts';
import { mergeStored } from '../../../store/traces/merge/merged-texts.ts';
import { type StoredNode, toNode } from '../../../store/traces/read-traces.ts';
import { findRelations } from '../../../store/traces/relations.ts';
import { nodeColumns } from '../../../store/traces/trace-node.ts';

const readers = createSpanReaders('weir', unlimited);

// biome-ignore lint/suspicious/noExplicitAny: events are any JSON.
export type MappedEvent = any;

/**
 * Maps a request in both encodings, expects equal results, and merges the spans of each call as the writer
 * does. Spans that are merged then are counted so.
 */
export function mapRequests(...requests: readonly RequestInit[]): SpanBatch & { events: MappedEvent[] } {
  const batch = readers.otlp(toProtobuf(...requests));
  const ofJson = readers.otlpJson(toOtlpJson(...requests));
  expect(ofJson.counts).toEqual(batch.counts);
  expect(ofJson.rejection).toEqual(batch.rejection);
  expect(textsOf(ofJson)).toEqual(textsOf(batch));
  const { events, merged } = mergeCalls(batch);
  const { stored, rejected, filtered } = batch.counts;
  const others = merged === 0 ? filtered : { ...filtered, merged };
  const late = merged - (filtered.merged ?? 0);
  return { ...batch, events, counts: { stored: stored - late, rejected, filtered: others } };
}

/** What the writer makes of the events of a request, without a database. */
function mergeCalls({ parts, nodes }: SpanBatch): { events: MappedEvent[]; merged: number } {
  const texts = new Map<string, string>();
  for (const { body } of parts)
    for (const event of parseEvents(body)) texts.set(String(event.id), stringifyExact(event));
  const spans = nodes.flatMap((json): object[] => JSON.parse(json)).map(toStored);
  const { surplus } = findRelations([{ traceId: '', version: 1, isResolved: false, nodes: spans }]);
  const read = ({ eventId }: StoredNode) =>
    parseExactJson(texts.get(eventId ?? '') ?? '', true) as JsonObject;
  for (const [call, own] of Map.groupBy(surplus, (one) => one.call)) {
    const others = own.map(({ node }) => ({ event: read(node), spanId: node.spanId }));
    for (const { node } of own) texts.delete(node.eventId ?? '');
    if (call !== undefined)
      texts.set(call.eventId ?? '', mergeStored(read(call), { others, dropped: new Set() }).text);
  }
  const merged = surplus.filter(({ call }) => call !== undefined).length;
  return { events: Array.from(texts.values(), (text) => JSON.parse(text)), merged };
}

function parseEvents(body: Buffer): JsonObject[] {
  const { events } = parseExactJson(body.toString(), true) as { events: JsonObject[] };
  return events;
}

function toStored(sent: object): StoredNode {
  const names = Object.entries(nodeColumns);
  const row = names.map(([name, column]) => [name, Reflect.get(sent, column.name) ?? null]);
  return toNode(Object.fromEntries(row));
}

/** Maps a request with one span to its one event. */
export function mapSpan(span: SpanInit, around: Omit<RequestInit, 'spans'> = {}): MappedEvent {
  const { events } = mapRequests({ ...around, spans: [span] });
  expect(events).toHaveLength(1);
  return events[0];
}

/** Maps log records in both encodings, and expects equal results. */
export function mapLogs(...records: readonly LogInit[]) {
  const batch = readers.otlpLogs(toProtobufLogs(records));
  const ofJson = readers.otlpLogsJson(toJsonLogs(records));
  expect(ofJson.nodes).toEqual(batch.nodes);
  expect(ofJson.parts.map(({ body }) => body.toString())).toEqual(
    batch.parts.map(({ body }) => body.toString()),
  );
  const events = batch.parts.flatMap(({ body }) => JSON.parse(body.toString()).events);
  expect(ofJson.notes).toEqual(batch.notes);
  const [nodes, notes] = [batch.nodes, batch.notes].map((list) => list.flatMap((json) => JSON.parse(json)));
  return { events, nodes: nodes ?? [], notes: notes ?? [] };
}

export function textsOf({ parts }: SpanBatch): string[] {
  return parts.map(({ body }) => body.toString());
}
