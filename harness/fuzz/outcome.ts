import { type ErrorId, errorTable, IngestError } from '../../event/errors.ts';
import { compileBatchRules } from '../../event/validate.ts';
import { unlimited } from '../../services/ingest/read/batch-reader.ts';
import { createJsonBatchReader } from '../../services/ingest/read/json-batch-reader.ts';
import type { Body } from './bodies.ts';

/** The errors that a body can cause (docs/api.md §7). */
const bodyErrors: readonly ErrorId[] = [
  'invalid_request_body',
  'invalid_event_batch',
  'batch_too_large',
  'too_many_events',
];

/** `accepted`, or the id of the error. */
export type Outcome = 'accepted' | ErrorId;

const readBatch = createJsonBatchReader(compileBatchRules('weir'), unlimited);

/**
 * Reads a body with the service's reader.
 *
 * @throws every error that a body must not cause.
 */
export function outcomeInProcess(body: Body): Outcome {
  try {
    readBatch(Buffer.from(body as string));
    return 'accepted';
  } catch (thrown) {
    if (!(thrown instanceof IngestError)) throw thrown;
    return requireBodyError(thrown.toBody());
  }
}

/**
 * Sends a body to a service.
 *
 * @throws Error when the response is not one that docs/api.md §7 allows for a body.
 */
export async function outcomeOverHttp(address: string, apiKey: string, body: Body): Promise<Outcome> {
  const answer = await fetch(`${address}/v1/ingest-events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: Buffer.from(body as string),
  });
  const text = await answer.text();
  if (answer.status === 202) return 'accepted';
  const id = requireBodyError(JSON.parse(text));
  if (errorTable[id].status !== answer.status) throw new Error(`${answer.status} with ${text}`);
  return id;
}

function requireBodyError(body: unknown): ErrorId {
  const { error } = body as Partial<ReturnType<IngestError['toBody']>>;
  const id = bodyErrors.find((one) => one === error?.id);
  if (id === undefined || error?.status !== errorTable[id].status || error.details === '') {
    throw new Error(`not an answer to a body: ${JSON.stringify(body)}`);
  }
  return id;
}
