import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BatchRules } from '../../lib/event/validate.ts';
import { bodyBytesMax } from '../../lib/limits.ts';
import { decodeBody } from './decode.ts';
import { createBatchReader } from './read-batch.ts';
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
export function createJsonFormat(rules: BatchRules): BatchFormat {
  const readBatch = createBatchReader(rules);
  return {
    requestBytesMax: bodyBytesMax,
    unpack: (request, sent, budget) => decodeBody(sent, request.headers['content-encoding'], budget),
    read: (bytes) => ({ projection: readBatch(bytes), body: bytes }),
  };
}
