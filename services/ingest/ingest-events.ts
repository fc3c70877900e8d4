import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyBytesMax } from '../../lib/limits.ts';
import { decodeBody } from './decode.ts';
import type { Readers } from './open-readers.ts';
import { sendJson } from './respond.ts';
import { type BatchDependencies, type BatchFormat, takeBatch } from './take-batch.ts';

export interface IngestDependencies extends BatchDependencies {
  jsonFormat: BatchFormat;
}

/** `POST /v1/ingest-events` (contract §4). */
export async function ingestEvents(
  dependencies: IngestDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { message, headers } = await takeBatch(dependencies, request, dependencies.jsonFormat);
  sendJson(response, 202, { message }, headers);
}

/** A body of JSON, as it is or behind a Content-Encoding. */
export function createJsonFormat(readers: Readers): BatchFormat {
  return {
    requestBytesMax: bodyBytesMax,
    unpack: (request, sent, budget) => decodeBody(sent, request.headers['content-encoding'], budget),
    read: readers.json,
  };
}
