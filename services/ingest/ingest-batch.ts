import type { IncomingMessage } from 'node:http';
import { IngestError } from '../../event/errors.ts';
import { formatBatchId } from '../../event/segment/batch-id.ts';
import type { ConnectionShares } from '../../platform/http/connection-shares.ts';
import type { SpaceShares } from '../../platform/metrics/space-metrics.ts';
import type { MediaInit } from '../../platform/queue/group.ts';
import type { OwnSpan } from '../../platform/tracing/own-spans.ts';
import { secondsToMonthEnd } from '../../store/accounts/month.ts';
import type { CheckedClock } from '../../store/db/clock.ts';
import type { ApiKeyCache, Principal } from './admit/api-key-cache.ts';
import { type Authenticate, authenticate as authenticateByContract } from './admit/authenticate.ts';
import type { KeyUses } from './admit/key-uses.ts';
import type { Quota, QuotaView } from './admit/quota.ts';
import type { Unauthenticated } from './admit/unauthenticated.ts';
import { type BodyLimits, checkDeclaredLength, readBody } from './body/body.ts';
import { type BudgetedBuffer, holdBuffer, memoryExhausted } from './body/budgeted-buffer.ts';
import type { BufferPool } from './body/buffer-pool.ts';
import type { ByteBudget, ByteBudgets } from './body/byte-budget.ts';
import { detachBuffer } from './body/detach-buffer.ts';
import type { Committed, Committer } from './commit/committer.ts';
import { batchOfNodes, type CompressedBatch, compressBatch } from './commit/compressed-batch.ts';
import { countBody, measureRequest, type Protocol } from './metrics.ts';
import type { ReadBatch } from './read/batch-reader.ts';
import type { RequestTraces } from './request-traces.ts';

export interface BatchDependencies {
  clock: Pick<CheckedClock, 'nowMs'>;
  apiKeyCache: ApiKeyCache;
  unauthenticated: Unauthenticated;
  connections: ConnectionShares;
  keyUses: KeyUses;
  quota: Quota;
  budgets: ByteBudgets;
  /** Each space's share of the bytes received. */
  shares: SpaceShares;
  buffers: BufferPool;
  committer: Committer;
  /** Undefined unless requests are logged or traced. */
  requestTraces: RequestTraces;
}

/** Turns the bytes of a request into batches; one for each protocol and encoding. */
export interface RequestDecoder<T> {
  /** Largest body, before and after decompression. */
  bodyBytesMax: number;
  /** Size of the protocol's envelope. */
  overheadBytes: number;
  /** Removes compression and envelope. */
  decode(request: IncomingMessage, sent: Buffer, limits: BodyLimits): Promise<BudgetedBuffer>;
  /** Parses, validates and projects. Spaces take turns. */
  read(bytes: Buffer, spaceId: string): T | Promise<T>;
}

/** The decoder of a protocol whose requests are one batch each. */
export type BatchDecoder = RequestDecoder<ReadBatch>;

/** The response to a durable batch. */
export interface Receipt {
  message: string;
  headers: Record<string, string>;
}

/** Ingests one batch (docs/api.md §4). @throws what `ingestRequest` throws. */
export async function ingestBatch(
  dependencies: BatchDependencies,
  request: IncomingMessage,
  kind: { decoder: BatchDecoder; protocol: Protocol },
): Promise<Receipt> {
  const { result, headers } = await ingestRequest(dependencies, request, {
    ...kind,
    batchesOf: (batch) => [batch],
  });
  const { eventCount } = result.projection;
  return { message: `Queued ${eventCount} ${eventCount === 1 ? 'event' : 'events'}.`, headers };
}

/**
 * Ingests one request of any protocol. The checks run in the order of docs/api.md: clock, key, declared
 * length, quota, body, encoding, syntax, batch, events. Then the batches are made durable.
 * @returns the decoder's result, and the headers of the response.
 * @throws IngestError for every error response.
 * @throws ClientGoneError
 */
export function ingestRequest<T>(
  dependencies: BatchDependencies,
  request: IncomingMessage,
  kind: RequestKind<T>,
): Promise<Ingested<T>> {
  const { requestTraces } = dependencies;
  if (requestTraces === undefined)
    return measureRequest(kind.protocol, () => checkAndCommit(dependencies, request, kind));
  return requestTraces.follow(request, kind.protocol, (span) =>
    measureRequest(kind.protocol, () => checkAndCommit(dependencies, request, kind, span)),
  );
}

export interface RequestKind<T> {
  readonly decoder: RequestDecoder<T>;
  readonly protocol: Protocol;
  readonly batchesOf: (result: T) => readonly ReadBatch[];
  /** Nodes of traces, durable together with the batches: JSON arrays for weir.queue.v1.TraceNodes. */
  readonly nodesOf?: (result: T) => readonly string[];
  /** Results of evaluations for it. */
  readonly notesOf?: (result: T) => readonly string[];
  /** Media for it, which may be in the memory of the decoded body. */
  readonly mediaOf?: (result: T) => readonly MediaInit[];
  /** Default: the `Authorization: Bearer` of docs/api.md. */
  readonly authenticate?: Authenticate;
}

interface Ingested<T> {
  readonly principal: Principal;
  readonly result: T;
  readonly eventCount: number;
  readonly headers: Record<string, string>;
}

async function checkAndCommit<T>(
  dependencies: BatchDependencies,
  request: IncomingMessage,
  kind: RequestKind<T>,
  span?: OwnSpan,
): Promise<Ingested<T>> {
  const { clock, apiKeyCache, unauthenticated, connections } = dependencies;
  const { keyUses, quota, budgets, shares, buffers } = dependencies;
  const { decoder, batchesOf, nodesOf, notesOf, mediaOf, authenticate = authenticateByContract } = kind;
  const { bodyBytesMax, overheadBytes } = decoder;
  // First: with a wrong clock valid keys can look expired.
  readClock(clock);
  const principal = await unauthenticated.admit(request, () => authenticate(request, apiKeyCache));
  connections.note(request, principal.spaceId);
  checkDeclaredLength(request, bodyBytesMax + overheadBytes);
  const quotaView = await quota.admit(principal);
  const budget = budgets.of(principal.spaceId);
  using received = new DisposableStack();
  const sent = received.use(
    await readBody(request, buffers, { bytesMax: bodyBytesMax + overheadBytes, budget }),
  );
  countBody(request, sent.bytes.length);
  shares.add(principal.spaceId, sent.bytes.length);
  const receivedAtMs = readClock(clock);
  keyUses.note(principal.keyId, receivedAtMs);
  const decoded = received.use(await decoder.decode(request, sent.bytes, { bytesMax: bodyBytesMax, budget }));
  const result = await decoder.read(decoded.bytes, principal.spaceId);
  const readBatches = batchesOf(result);
  const media = mediaOf?.(result) ?? [];
  // If every batch has its own JSON, that JSON is stored: free the received bytes.
  if (media.length === 0 && readBatches.every(({ body }) => body !== undefined)) received.dispose();
  // The JSON can be six times as long as the protobuf.
  using held = new DisposableStack();
  const batches = readBatches.map(({ projection, body: written }) => ({
    projection,
    body: written === undefined ? decoded.bytes : held.use(holdBuffer(written, budget)).bytes,
  }));
  const nodes = nodesOf?.(result) ?? [];
  const notes = notesOf?.(result) ?? [];
  holdChars(held, [...nodes, ...notes], budget);
  const accepted = { principal, receivedAtMs, batches, nodes, notes, media, span };
  const committed = await commitAll(dependencies, accepted);
  const eventCount = readBatches.reduce((sum, { projection }) => sum + projection.eventCount, 0);
  const headers = { ...batchIdHeader(committed), ...quotaHeaders(quotaView) };
  return { principal, result, eventCount, headers };
}

/** Counts texts against the budget. @throws IngestError `ingest_unavailable` when it has no room. */
function holdChars(held: DisposableStack, texts: readonly string[], budget: ByteBudget): void {
  const chars = texts.reduce((sum, { length }) => sum + length, 0);
  if (!budget.take(chars)) throw memoryExhausted();
  held.defer(() => budget.release(chars));
}

/** @throws IngestError `ingest_unavailable` when the clock is wrong: events would expire too early. */
function readClock(clock: BatchDependencies['clock']): number {
  try {
    return clock.nowMs();
  } catch (cause) {
    throw new IngestError(
      'ingest_unavailable',
      'The clocks of this server and of its database differ, so that the time of receipt is not certain. Retry later.',
      { cause },
    );
  }
}

/**
 * Makes batches durable. Settles when all of them have settled, because the caller then reuses their memory.
 * @returns one element for each message.
 */
async function commitAll(
  dependencies: BatchDependencies,
  received: {
    principal: Principal;
    receivedAtMs: number;
    batches: readonly Required<ReadBatch>[];
    nodes: readonly string[];
    notes: readonly string[];
    media: readonly MediaInit[];
    span: OwnSpan | undefined;
  },
): Promise<Committed[]> {
  const { principal, receivedAtMs: atMs, batches, nodes, notes, media, span } = received;
  const compressing = batches
    .filter(({ projection }) => projection.eventCount > 0)
    .map(({ projection, body }) => compressBatch(principal, projection, { body, atMs }));
  const ofNodes = [
    ...nodes.map((json) => batchOfNodes(principal, { nodes: json, atMs })),
    ...notes.map((json) => batchOfNodes(principal, { notes: json, atMs })),
    ...media.map((one) => batchOfNodes(principal, { media: one, atMs })),
  ];
  const outcomes = await Promise.allSettled(
    [...compressing, ...ofNodes.map((batch) => Promise.resolve(batch))].map(async (compressed) => {
      const batch = span === undefined ? await compressed : { ...(await compressed), span };
      return commit(dependencies, { principal, atMs, batch });
    }),
  );
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** No header when nothing was queued: the batch had no events, or the queue dropped it as a retry. */
function batchIdHeader(committed: readonly Committed[]): Record<string, string> {
  const queued = committed.flatMap(({ isRepeat, range }) => (isRepeat || range === undefined ? [] : range));
  return queued.length === 0 ? {} : { 'Weir-Batch-Id': formatBatchId(queued) };
}

function quotaHeaders(view: QuotaView | undefined): Record<string, string> {
  return view === undefined
    ? {}
    : {
        'Weir-Quota-Limit': String(view.limit),
        'Weir-Quota-Used': String(view.used),
        'Weir-Quota-Reset': String(secondsToMonthEnd(Date.now())),
      };
}

async function commit(
  { committer, quota, keyUses }: BatchDependencies,
  { principal, atMs, batch }: { principal: Principal; atMs: number; batch: CompressedBatch },
): Promise<Committed[]> {
  const messages = await committer.commit(batch);
  // The published message holds a copy.
  if (batch.compressed !== undefined) detachBuffer(batch.compressed);
  for (const { eventCount, isRepeat } of messages) {
    if (isRepeat) keyUses.noteRepeats(principal, eventCount, atMs);
  }
  if (principal.monthlyEventLimit === null || batch.eventCount === 0) return messages;
  const { spaceId } = principal;
  await Promise.all(
    messages.map(({ eventCount, position }) => quota.noteAccepted({ spaceId, events: eventCount, position })),
  );
  return messages;
}
