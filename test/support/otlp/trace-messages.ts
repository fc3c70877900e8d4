import { partOf } from '../../../harness/fixtures/part.ts';
import { toProtobuf } from '../../../harness/fixtures/spans.ts';
import { createSpanReaders } from '../../../services/ingest/otlp/batch/span-readers.ts';
import { unlimited } from '../../../services/ingest/read/batch-reader.ts';
import type { Database } from '../../../store/db/database.ts';
import { storeEvaluations } from '../../../store/notes/evaluation-notes.ts';
import { storeNodes } from '../../../store/traces/store-nodes.ts';
import { storeParts } from '../../../store/write/store.ts';
import type { ObservedSpan } from './observed-trace.ts';

/** A message of the queue: events, spans without their events, or notes. */
export type Message = (database: Database, spaceId: string) => Promise<unknown>;

const readers = createSpanReaders('weir', unlimited);

const apiKeyId = '018f3b1e-0000-7000-8000-000000000001';

/**
 * The events, the spans and the notes of a request in messages of their own, as a broker may deliver them in
 * any order.
 */
export function messagesOf(body: Buffer, encoding: 'otlp' | 'otlpLogs' = 'otlp'): Message[] {
  const { parts, nodes, notes } = readers[encoding](body);
  return [
    ...parts.map(({ body: json }): Message => {
      const sent = JSON.parse(json.toString()).events;
      return (database, spaceId) => storeParts(database, [partOf(spaceId, sent)]);
    }),
    ...nodes.map(
      (json): Message =>
        (database, spaceId) =>
          storeNodes(database, spaceId, { sent: [{ json, receivedAtMs: BigInt(Date.now()) }] }),
    ),
    ...notes.map(
      (json): Message =>
        (database, spaceId) =>
          storeEvaluations(database, spaceId, [{ notes: json, apiKeyId, receivedAtMs: BigInt(Date.now()) }]),
    ),
  ];
}

export function toRequest(spans: readonly ObservedSpan[]): Buffer {
  const byLibrary = Map.groupBy(spans, ({ library }) => library);
  return toProtobuf(
    ...Array.from(byLibrary, ([name, own]) => ({ scope: { name }, spans: own.map(({ span }) => span) })),
  );
}
