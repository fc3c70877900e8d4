import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { IngestError } from '../../lib/errors.ts';
import { bodyBytesMax, readerHeap } from '../../lib/limits.ts';
import type { ReadOutcome, ReadTask, ThreadData } from './reader-thread.ts';
import type { BatchForm, ReadBatch } from './readers.ts';

/**
 * Reads batches on a thread of its own, one at a time. The thread starts at once: to start one takes a quarter of a second
 * of a core. One that ended, for want of memory or of file descriptors, is started anew by the next batch.
 */
export class CostlyReader implements AsyncDisposable {
  /** Seen by both threads: a copy of 4 MiB each time would be what starts V8's collections (ADR 0008). */
  readonly #shared = Buffer.from(new SharedArrayBuffer(bodyBytesMax));
  readonly #start: () => Worker;
  #worker: Worker | undefined;

  constructor(vendor: string, heap = readerHeap) {
    const workerData: ThreadData = { vendor, shared: this.#shared.buffer };
    const file = new URL('reader-thread.ts', import.meta.url);
    this.#start = () => new Worker(file, { workerData, resourceLimits: heap });
    this.#worker = this.#launch();
  }

  /**
   * As BatchReader does. The caller waits for one batch before it brings the next.
   *
   * @throws IngestError `ingest_unavailable` when the thread ends meanwhile, or cannot start.
   */
  async read(form: BatchForm, bytes: Buffer): Promise<ReadBatch> {
    const task: ReadTask = { form, length: bytes.copy(this.#shared) };
    const outcome = await this.#run(task).catch((cause) => {
      throw new IngestError('ingest_unavailable', 'The batch cannot be read at this moment. Retry later.', {
        cause,
      });
    });
    if ('refused' in outcome) throw new IngestError(outcome.refused.id, outcome.refused.details);
    const { projection, body } = outcome;
    return body === undefined ? { projection } : { projection, body: Buffer.from(body.buffer) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  async #run(task: ReadTask): Promise<ReadOutcome> {
    this.#worker ??= this.#launch();
    const settled = new AbortController();
    // Both reject when the worker fails.
    const answered = once(this.#worker, 'message', settled);
    const ended = once(this.#worker, 'exit', settled).then(() => {
      throw new Error('the thread has ended');
    });
    ended.catch(() => {});
    this.#worker.postMessage(task);
    try {
      const [outcome] = await Promise.race([answered, ended]);
      return outcome;
    } finally {
      answered.catch(() => {});
      settled.abort();
    }
  }

  #launch(): Worker {
    const worker = this.#start();
    const forget = () => {
      if (this.#worker === worker) this.#worker = undefined;
    };
    // What fails while nobody waits is told when somebody does: a new thread fails of the same, or does not.
    worker.on('error', forget).once('exit', forget);
    worker.unref();
    return worker;
  }
}
