import type { IncomingMessage, ServerResponse } from 'node:http';
import { type BatchDecoder, type BatchDependencies, ingestBatch } from './ingest-batch.ts';
import { sendJson } from './respond/respond.ts';

export interface IngestDependencies extends BatchDependencies {
  jsonDecoder: BatchDecoder;
}

/** `POST /v1/ingest-events` (docs/api.md §4). */
export async function ingestEvents(
  dependencies: IngestDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const kind = { decoder: dependencies.jsonDecoder, protocol: 'json' } as const;
  const { message, headers } = await ingestBatch(dependencies, request, kind);
  sendJson(response, 202, { message }, headers);
}
