import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BatchValidator } from '../../lib/event/validate.ts';
import { acceptBatch } from './accepted-batch.ts';
import type { Access, AccessDirectory } from './access.ts';
import { authenticate } from './authenticate.ts';
import { checkDeclaredLength, memoryExhausted, readBody } from './body.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Committer } from './committer.ts';
import { decodeBody } from './decode.ts';
import type { KeyUses } from './key-uses.ts';
import { parseJson } from './parse.ts';
import type { Quota } from './quota.ts';
import { sendJson } from './respond.ts';

export interface IngestDependencies {
  directory: AccessDirectory;
  keyUses: KeyUses;
  quota: Quota;
  budget: ByteBudget;
  validateBatch: BatchValidator;
  committer: Committer;
}

/**
 * `POST /v1/ingest-events` (contract §4). The order of the checks is design §3's: key, declared length, quota, body,
 * encoding, JSON, batch, events; then the queue; then 202.
 *
 * @throws IngestError for everything that is answered with an error.
 */
export async function ingestEvents(
  dependencies: IngestDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { directory, keyUses, quota, budget, validateBatch } = dependencies;
  const access = await authenticate(request, directory);
  checkDeclaredLength(request);
  const quotaView = await quota.admit(access);
  using body = await readBody(request, budget);
  const atMs = Date.now();
  keyUses.note(access.keyId, atMs);
  const bytes = await decodeBody(body.bytes, request.headers['content-encoding']);
  // What decoding adds is held as well: small bombs must not pass the bound together.
  const grownBytes = bytes.length - Math.min(body.bytes.length, bytes.length);
  if (!budget.take(grownBytes)) throw memoryExhausted();
  using _grown = { [Symbol.dispose]: () => budget.release(grownBytes) };
  const events = validateBatch(parseJson(bytes));
  if (events.length > 0)
    await commit(dependencies, access, await acceptBatch(access, events, { body: bytes, atMs }));
  const headers: Record<string, string | number> = { 'Weir-Batch-Id': randomUUID() };
  if (quotaView !== undefined) {
    headers['Weir-Quota-Limit'] = quotaView.limit;
    headers['Weir-Quota-Used'] = quotaView.used;
  }
  sendJson(
    response,
    202,
    { message: `Queued ${events.length} ${events.length === 1 ? 'event' : 'events'}.` },
    headers,
  );
}

async function commit(
  { committer, quota }: IngestDependencies,
  access: Access,
  batch: Awaited<ReturnType<typeof acceptBatch>>,
): Promise<void> {
  const sequence = await committer.commit(batch);
  if (access.monthlyEventLimit !== null) quota.noteAccepted(access.spaceId, batch.eventCount, sequence);
}
