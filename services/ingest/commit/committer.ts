import { IngestError } from '../../../event/errors.ts';
import { type BatchRange, formatBatchId } from '../../../event/segment/batch-id.ts';
import type { Logger } from '../../../platform/log.ts';
import type { QueuePosition, QueuePublisher } from '../../../platform/queue/failover.ts';
import { PubAckTimeoutError } from '../../../platform/queue/stream-publisher.ts';
import type { OwnSpan } from '../../../platform/tracing/own-spans.ts';
import { measureGroup } from '../metrics.ts';
import type { CompressedBatch } from './compressed-batch.ts';
import { createMessage, type GroupMessage } from './group.ts';
import { countFitting, fitsMessage, splitBatch } from './message-size.ts';

/**
 * Largest message of several batches, by the estimate of `countFitting`: making one of 8 MiB, and collecting
 * the garbage, holds the event loop for 80 ms.
 */
const groupBytesMax = 4 * 1024 * 1024;

/** Publishes one message and returns its position when it is on disk. */
export type Publish = QueuePublisher['publish'];

/** Events of a batch that are durable, and the message that holds them. */
export interface Committed {
  readonly eventCount: number;
  readonly position: QueuePosition;
  /** Where the events are; undefined for nodes. Void when `isRepeat` is set: nothing was queued. */
  readonly range: BatchRange | undefined;
  /** The queue dropped the message as a duplicate: the request is a retry, and the writer does not see it. */
  readonly isRepeat?: true;
}

interface Waiting {
  batch: CompressedBatch;
  resolve: (committed: Committed) => void;
  reject: (error: IngestError) => void;
}

/**
 * Group commit (ADR 0002). Batches that arrive while a publish is in flight wait and are then published
 * together as one message. Each batch gets its response only after that message's PubAck, that is after its
 * fsync. A single batch is published at once.
 */
export class Committer {
  readonly #publish: Publish;
  readonly #payloadBytesMax: number;
  readonly #log: Logger;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  /** @param payloadBytesMax the largest message that nats-server accepts. */
  constructor(publish: Publish, payloadBytesMax: number, log: Logger) {
    this.#publish = publish;
    this.#payloadBytesMax = payloadBytesMax;
    this.#log = log;
  }

  /**
   * Makes a batch durable, in as many messages as it needs.
   * @returns one element for each message, when all of them are on disk.
   * @throws IngestError `ingest_unavailable` when a message was not confirmed. Its events may be durable
   * nevertheless: a retry with the same ids is safe.
   */
  async commit(batch: CompressedBatch): Promise<Committed[]> {
    const bytesMax = this.#payloadBytesMax;
    const pieces = fitsMessage(batch, bytesMax) ? [batch] : await splitBatch(batch, bytesMax);
    // Wait for all of them even if one fails: the caller reuses the memory of the body.
    const outcomes = await Promise.allSettled(pieces.map((piece) => this.#enqueue(piece)));
    return outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
  }

  /** Waits until all calls of `commit` have settled. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running;
  }

  #enqueue(batch: CompressedBatch): Promise<Committed> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    // Requests of the same turn of the event loop share the first message.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) await this.#commitGroup(this.#takeGroup());
    this.#running = undefined;
  }

  /** Takes what fits into one message; if not all does, a batch of each space in turn. */
  #takeGroup(): Waiting[] {
    const bytesMax = Math.min(this.#payloadBytesMax, groupBytesMax);
    const fitting = () =>
      countFitting(
        this.#waiting.map(({ batch }) => batch),
        bytesMax,
      );
    let count = fitting();
    if (count < this.#waiting.length) {
      this.#waiting = inTurns(this.#waiting);
      count = fitting();
    }
    return this.#waiting.splice(0, count);
  }

  async #commitGroup(group: Waiting[]): Promise<void> {
    const startedMs = performance.now();
    const span = startSpan(group);
    try {
      const message = createMessage(group.map(({ batch }) => batch));
      const { payload, messageId, ranges } = message;
      // The client library would throw, and a publisher with several streams would then reconnect, which
      // fails all requests.
      if (payload.length > this.#payloadBytesMax) throw new Error(`a message of ${payload.length} bytes`);
      let repeat: Pick<Committed, 'isRepeat'> = {};
      const position = await this.#publish(payload, messageId, {
        onRepeat: () => {
          repeat = { isRepeat: true };
        },
        traceparent: span?.traceparent,
      });
      measureGroup(group.length, payload.length);
      span?.end({ 'weir.batches': group.length, 'weir.bytes': payload.length });
      for (const { resolve, batch } of group) {
        const range = ranges.get(batch);
        if (range === undefined && batch.nodes === undefined) throw new Error('a batch without a segment');
        resolve({ eventCount: batch.eventCount, position, range, ...repeat });
      }
      this.#logCommitted(message, { ...position, ...repeat, ms: Math.round(performance.now() - startedMs) });
    } catch (error) {
      span?.end({ 'weir.batches': group.length }, true);
      // Without a PubAck the waiting batches would time out one after the other: fail them now. A publish
      // takes up to 1.5 s with one stream, and twice that with two (ADR 0012).
      const failed = error instanceof PubAckTimeoutError ? [...group, ...this.#waiting.splice(0)] : group;
      this.#log.error({ err: error, batches: failed.length }, 'not committed');
      const unavailable = new IngestError(
        'ingest_unavailable',
        'The queue did not confirm the batch. Retry with the same event ids: that creates no duplicates.',
        { cause: error },
      );
      for (const { reject } of failed) reject(unavailable);
    }
  }

  /** One line for each message, with the `Weir-Batch-Id` of its requests. */
  #logCommitted({ payload, ranges }: GroupMessage, outcome: object): void {
    if (!this.#log.isLevelEnabled('debug')) return;
    const batchIds = Array.from(ranges.values(), (range) => formatBatchId([range]));
    this.#log.debug({ ...outcome, bytes: payload.length, batchIds }, 'committed');
  }
}

/** Takes one batch of each space in turn: those of a space that sends a lot do not delay the others. */
function inTurns(waiting: readonly Waiting[]): Waiting[] {
  const rounds: Waiting[][] = [];
  for (const ofSpace of Map.groupBy(waiting, ({ batch }) => batch.spaceId).values())
    ofSpace.forEach((one, round) => {
      rounds[round] ??= [];
      rounds[round].push(one);
    });
  return rounds.flat();
}

/** The span of a group is below that of its first request with one, and linked to all. */
function startSpan(group: readonly Waiting[]): OwnSpan | undefined {
  const first = group.find(({ batch }) => batch.span !== undefined)?.batch.span;
  if (first === undefined) return undefined;
  return first.startChild('commit', [...new Set(group.flatMap(({ batch }) => batch.span ?? []))]);
}
