import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { acceptBatch } from './accepted-batch.ts';
import type { Access, AccessDirectory } from './access.ts';
import { authenticate } from './authenticate.ts';
import { checkDeclaredLength, type HeldBody, readBody } from './body.ts';
import type { ByteBudget, ByteBudgets } from './byte-budget.ts';
import type { Committer } from './committer.ts';
import { freeMemory } from './free-memory.ts';
import type { KeyUses } from './key-uses.ts';
import type { Quota, QuotaView } from './quota.ts';
import type { ReadBatch } from './readers.ts';

export interface BatchDependencies {
  directory: AccessDirectory;
  keyUses: KeyUses;
  quota: Quota;
  budgets: ByteBudgets;
  committer: Committer;
}

/** What a protocol does with the bytes of a batch. */
export interface BatchFormat {
  /** Most bytes of a request: those of the largest batch, and of what lies around it. */
  requestBytesMax: number;
  /** Undoes what lies around the batch: compression, an envelope. What it returns is within 4 MiB. */
  unpack(request: IncomingMessage, sent: Buffer, budget: ByteBudget): Promise<HeldBody>;
  /** Parses, validates and projects. */
  read(bytes: Buffer): ReadBatch | Promise<ReadBatch>;
}

/** The good news: the batch is durable. */
export interface Receipt {
  message: string;
  headers: Record<string, string>;
}

/**
 * Takes one batch, whatever protocol it comes by (contract §4). The order of the checks is design §3's: key, declared
 * length, quota, body, encoding, syntax, batch, events; then the queue; then the receipt.
 *
 * @throws IngestError for everything that is answered with an error.
 * @throws ClientGoneError
 */
export async function takeBatch(
  dependencies: BatchDependencies,
  request: IncomingMessage,
  format: BatchFormat,
): Promise<Receipt> {
  const { directory, keyUses, quota, budgets } = dependencies;
  const access = await authenticate(request, directory);
  checkDeclaredLength(request, format.requestBytesMax);
  const quotaView = await quota.admit(access);
  const budget = budgets.of(access.spaceId);
  using sent = await readBody(request, budget, format.requestBytesMax);
  const atMs = Date.now();
  keyUses.note(access.keyId, atMs);
  using unpacked = await format.unpack(request, sent.bytes, budget);
  const { projection, body = unpacked.bytes } = await format.read(unpacked.bytes);
  const { eventCount } = projection;
  if (eventCount > 0) {
    await commit(dependencies, access, await acceptBatch(access, projection, { body, atMs }));
  }
  if (body !== unpacked.bytes) freeMemory(body);
  return {
    message: `Queued ${eventCount} ${eventCount === 1 ? 'event' : 'events'}.`,
    headers: { 'Weir-Batch-Id': randomUUID(), ...quotaHeaders(quotaView) },
  };
}

function quotaHeaders(view: QuotaView | undefined): Record<string, string> {
  return view === undefined
    ? {}
    : { 'Weir-Quota-Limit': String(view.limit), 'Weir-Quota-Used': String(view.used) };
}

async function commit(
  { committer, quota }: BatchDependencies,
  access: Access,
  batch: Awaited<ReturnType<typeof acceptBatch>>,
): Promise<void> {
  const position = await committer.commit(batch);
  if (access.monthlyEventLimit === null) return;
  await quota.noteAccepted({ spaceId: access.spaceId, events: batch.eventCount, position });
}
