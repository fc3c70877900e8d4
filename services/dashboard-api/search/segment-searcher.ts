import { isMarkedAsUntransferable, Worker } from 'node:worker_threads';
import type { FoundText } from '../../../event/segment/find-text.ts';
import type { SearchOutcome, SearchTask } from './search-thread.ts';

type Settle = { resolve: (found: FoundText[]) => void; reject: (error: Error) => void };

/**
 * Searches on a thread, which starts with the first search, and again after it has ended: 10 ms for 4 MiB.
 */
export class SegmentSearcher implements AsyncDisposable {
  #worker: Worker | undefined;
  #nextId = 0;
  readonly #waiting = new Map<number, Settle>();

  /**
   * The segment's events that have the text. Takes the segment's memory from the caller.
   * @throws Error when the segment is damaged, or the thread ends.
   */
  find(segment: Buffer, wanted: { text: string; matchCase: boolean }): Promise<FoundText[]> {
    this.#worker ??= this.#start();
    const id = this.#nextId++;
    const { promise, ...settle } = Promise.withResolvers<FoundText[]>();
    this.#waiting.set(id, settle);
    const task: SearchTask = { id, ...wanted, segment };
    this.#worker.postMessage(task, ownedMemory(segment));
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('search-thread.ts', import.meta.url));
    const end = (cause?: unknown) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values())
        reject(new Error('the search thread has ended', { cause }));
      this.#waiting.clear();
    };
    worker.on('message', (outcome: SearchOutcome) => {
      const settle = this.#waiting.get(outcome.id);
      this.#waiting.delete(outcome.id);
      if ('found' in outcome) settle?.resolve(outcome.found);
      else settle?.reject(new Error(outcome.failure));
    });
    worker.on('error', end).once('exit', () => end());
    worker.unref();
    return worker;
  }
}

/** The memory of a segment, unless it is that which small Buffers share. */
function ownedMemory({ buffer }: Buffer): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer) ? [buffer] : [];
}
