import { once } from 'node:events';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { IngestError } from '../../../event/errors.ts';
import { otlpBodyBytesMax } from '../../../platform/limits.ts';
import { CostlyBatchError, type ReadLimits } from '../read/batch-reader.ts';
import type { Encoding, ReadResults } from './encodings.ts';
import type { ReadOutcome, ReadTask, WorkerOptions } from './worker-main.ts';

export interface ThreadOptions {
  /** What is too much for the thread. */
  readonly limits: ReadLimits;
  readonly resourceLimits: ResourceLimits;
  /** After this time without a batch the thread ends: V8 would keep its heap. */
  readonly idleMs: number;
  /** Whether a thread is started before it is needed: that takes a quarter of a second of CPU time. */
  readonly isStandby: boolean;
}

/**
 * Reads batches on a worker thread, one at a time. If the thread ends, out of memory or file descriptors, the
 * next batch starts another one.
 */
export class WorkerReader implements AsyncDisposable {
  /**
   * Memory that both threads share. A copy of 4 MiB for each batch would trigger V8's collections more often
   * (ADR 0008). Only pages that were written use memory.
   */
  readonly #shared: Buffer<SharedArrayBuffer>;
  readonly #startWorker: () => Worker;
  readonly #options: ThreadOptions;
  #worker: Worker | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(vendor: string, options: ThreadOptions) {
    const { limits, resourceLimits, isStandby } = options;
    this.#shared = Buffer.from(new SharedArrayBuffer(Math.min(limits.bytesMax, otlpBodyBytesMax)));
    const workerData: WorkerOptions = { vendor, limits, shared: this.#shared.buffer };
    const file = new URL('worker-main.ts', import.meta.url);
    this.#startWorker = () => new Worker(file, { workerData, resourceLimits });
    this.#options = options;
    if (isStandby) this.#worker = this.#start();
  }

  /**
   * Reads a request of at most `limits.bytesMax` with the reader of its encoding, and throws the same errors.
   * The caller must await one call before the next.
   * @throws IngestError `ingest_unavailable` when the thread ends during the call, or cannot start.
   */
  async read<E extends Encoding>(encoding: E, bytes: Buffer): Promise<ReadResults[E]> {
    const task: ReadTask = { encoding, length: bytes.copy(this.#shared) };
    const outcome = await this.#run(task).catch((cause) => {
      throw new IngestError('ingest_unavailable', 'The batch cannot be read at this moment. Retry later.', {
        cause,
      });
    });
    if ('error' in outcome) {
      const { error } = outcome;
      throw error === 'costly' ? new CostlyBatchError() : new IngestError(error.id, error.details);
    }
    // The thread posts the result type of the task's encoding.
    return withBuffers(outcome.result) as ReadResults[E];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idleTimer);
    await this.#worker?.terminate();
  }

  async #run(task: ReadTask): Promise<ReadOutcome> {
    clearTimeout(this.#idleTimer);
    this.#worker ??= this.#start();
    const settled = new AbortController();
    // Both reject when the worker fails.
    const answered = once(this.#worker, 'message', settled);
    const ended = once(this.#worker, 'exit', settled).then(() => {
      throw new Error('the worker thread has ended');
    });
    ended.catch(() => {});
    this.#worker.postMessage(task);
    try {
      const [outcome] = await Promise.race([answered, ended]);
      return outcome;
    } finally {
      answered.catch(() => {});
      settled.abort();
      this.#idleTimer = setTimeout(() => this.#replace(), this.#options.idleMs).unref();
    }
  }

  #replace(): void {
    const idle = this.#worker;
    // The thread has ended; the next batch starts another one.
    if (idle === undefined) return;
    this.#worker = this.#options.isStandby ? this.#start() : undefined;
    void idle.terminate();
  }

  #start(): Worker {
    const worker = this.#startWorker();
    const forget = () => {
      if (this.#worker === worker) this.#worker = undefined;
    };
    // Ignore an error between two batches: if it persists, the next batch's thread fails and reports it.
    worker.on('error', forget).once('exit', forget);
    worker.unref();
    return worker;
  }
}

/** Turns the Uint8Arrays of a cloned result back into Buffers. */
function withBuffers(result: ReadResults[Encoding]): ReadResults[Encoding] {
  if ('parts' in result) {
    return { ...result, parts: result.parts.map((part) => ({ ...part, body: toBuffer(part.body) })) };
  }
  return result.body === undefined ? result : { ...result, body: toBuffer(result.body) };
}

function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
