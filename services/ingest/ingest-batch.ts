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
import type { Committed, Committer } from './commit/committer.ts';
import { commitRequest } from './commit/request-commit.ts';
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
    partsOf: (batch) => ({ batches: [batch] }),
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
  const run = (span?: OwnSpan) =>
    measureRequest(kind.protocol, () => checkAndCommit(dependencies, request, { ...kind, span }));
  const { requestTraces } = dependencies;
  return requestTraces === undefined ? run() : requestTraces.follow(request, kind.protocol, run);
}

export interface RequestKind<T> {
  readonly decoder: RequestDecoder<T>;
  readonly protocol: Protocol;
  readonly partsOf: (result: T) => RequestParts;
  /** Default: the `Authorization: Bearer` of docs/api.md. */
  readonly authenticate?: Authenticate;
}

/** What becomes durable of a request. */
interface RequestParts {
  readonly batches: readonly ReadBatch[];
  /** Nodes of traces: JSON arrays for weir.queue.v1.TraceNodes. */
  readonly nodes?: readonly string[];
  /** Results of evaluations: JSON arrays for weir.queue.v1.TraceNodes. */
  readonly notes?: readonly string[];
  /** Media, which may be in the memory of the decoded body. */
  readonly media?: readonly MediaInit[];
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
  kind: RequestKind<T> & { span: OwnSpan | undefined },
): Promise<Ingested<T>> {
  const { clock, apiKeyCache, unauthenticated, connections } = dependencies;
  const { keyUses, quota, budgets, shares, buffers } = dependencies;
  const { decoder, partsOf, authenticate = authenticateByContract, span } = kind;
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
  const { batches: readBatches, nodes = [], notes = [], media = [] } = partsOf(result);
  // If every batch has its own JSON, that JSON is stored: free the received bytes.
  if (media.length === 0 && readBatches.every(({ body }) => body !== undefined)) received.dispose();
  // The JSON can be six times as long as the protobuf.
  using held = new DisposableStack();
  const batches = readBatches.map(({ projection, body: written }) => ({
    projection,
    body: written === undefined ? decoded.bytes : held.use(holdBuffer(written, budget)).bytes,
  }));
  holdChars(held, [...nodes, ...notes], budget);
  const accepted = { principal, receivedAtMs, batches, nodes, notes, media, span };
  const committed = await commitRequest(dependencies, accepted);
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
