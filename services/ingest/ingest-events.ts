import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyBytesMax } from '../../platform/limits.ts';
import type { DecodeBody } from './body/decode.ts';
import { type BatchDecoder, type BatchDependencies, ingestBatch } from './ingest-batch.ts';
import { sendJson } from './respond/respond.ts';
import type { Readers } from './worker/readers.ts';

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

/** Decodes a JSON body, with or without a Content-Encoding. */
export function createJsonDecoder(readers: Readers, decodeBody: DecodeBody): BatchDecoder {
  return {
    bodyBytesMax,
    overheadBytes: 0,
    decode: (request, sent, limits) => decodeBody(sent, request.headers['content-encoding'], limits),
    read: readers.json,
  };
}
