import { type ErrorId, errorTable, IngestError } from '../../lib/errors.ts';
import { compileBatchRules } from '../../lib/event/validate.ts';
import { createBatchReader } from '../../services/ingest/read-batch.ts';
import { unlimited } from '../../services/ingest/read-limits.ts';
import type { Body } from './bodies.ts';

/** What a body, and nothing else, may be refused with (contract §7). */
const refusals: readonly ErrorId[] = [
  'invalid_request_body',
  'invalid_event_batch',
  'batch_too_large',
  'too_many_events',
];

/** `accepted`, or the id of the error. */
export type Outcome = 'accepted' | ErrorId;

const readBatch = createBatchReader(compileBatchRules('weir'), unlimited);

/**
 * What the service's reader makes of a body.
 *
 * @throws whatever it throws that a client must not be answered with.
 */
export function outcomeInProcess(body: Body): Outcome {
  try {
    readBatch(Buffer.from(body as string));
    return 'accepted';
  } catch (thrown) {
    if (!(thrown instanceof IngestError)) throw thrown;
    return requireRefusal(thrown.toBody());
  }
}

/**
 * What a service answers to a body.
 *
 * @throws Error when the answer is not one of the contract's to a body.
 */
export async function outcomeOverHttp(address: string, apiKey: string, body: Body): Promise<Outcome> {
  const answer = await fetch(`${address}/v1/ingest-events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: Buffer.from(body as string),
  });
  const text = await answer.text();
  if (answer.status === 202) return 'accepted';
  const id = requireRefusal(JSON.parse(text));
  if (errorTable[id].status !== answer.status) throw new Error(`${answer.status} with ${text}`);
  return id;
}

function requireRefusal(body: unknown): ErrorId {
  const { error } = body as Partial<ReturnType<IngestError['toBody']>>;
  const id = refusals.find((one) => one === error?.id);
  if (id === undefined || error?.status !== errorTable[id].status || error.details === '') {
    throw new Error(`not an answer to a body: ${JSON.stringify(body)}`);
  }
  return id;
}
