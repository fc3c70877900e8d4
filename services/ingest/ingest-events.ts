import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { acceptBatch } from './accepted-batch.ts';
import type { Access, AccessDirectory } from './access.ts';
import { authenticate } from './authenticate.ts';
import { checkDeclaredLength, readBody } from './body.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { Committer } from './committer.ts';
import { decodeBody } from './decode.ts';
import type { KeyUses } from './key-uses.ts';
import type { Quota, QuotaView } from './quota.ts';
import type { BatchReader } from './read-batch.ts';
import { sendJson } from './respond.ts';

export interface IngestDependencies {
  directory: AccessDirectory;
  keyUses: KeyUses;
  quota: Quota;
  budget: ByteBudget;
  readBatch: BatchReader;
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
  const { directory, keyUses, quota, budget, readBatch } = dependencies;
  const access = await authenticate(request, directory);
  checkDeclaredLength(request);
  const quotaView = await quota.admit(access);
  using sent = await readBody(request, budget);
  const atMs = Date.now();
  keyUses.note(access.keyId, atMs);
  using body = await decodeBody(sent.bytes, request.headers['content-encoding'], budget);
  const projection = readBatch(body.bytes);
  const { eventCount } = projection;
  if (eventCount > 0) {
    await commit(dependencies, access, await acceptBatch(access, projection, { body: body.bytes, atMs }));
  }
  const message = `Queued ${eventCount} ${eventCount === 1 ? 'event' : 'events'}.`;
  sendJson(response, 202, { message }, { 'Weir-Batch-Id': randomUUID(), ...quotaHeaders(quotaView) });
}

function quotaHeaders(view: QuotaView | undefined): Record<string, number> {
  return view === undefined ? {} : { 'Weir-Quota-Limit': view.limit, 'Weir-Quota-Used': view.used };
}

async function commit(
  { committer, quota }: IngestDependencies,
  access: Access,
  batch: Awaited<ReturnType<typeof acceptBatch>>,
): Promise<void> {
  const sequence = await committer.commit(batch);
  if (access.monthlyEventLimit !== null) quota.noteAccepted(access.spaceId, batch.eventCount, sequence);
}
