import { IngestError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { QueuePosition, QueuePublisher } from '../../lib/queue/failover.ts';
import { QueueSilentError } from '../../lib/queue/publish.ts';
import type { AcceptedBatch } from './accepted-batch.ts';
import { sealGroup, takeGroup } from './group.ts';

/** Publishes one message and returns where it is when it is on disk. */
export type Publish = QueuePublisher['publish'];

interface Waiting {
  batch: AcceptedBatch;
  resolve: (position: QueuePosition) => void;
  reject: (error: IngestError) => void;
}

/**
 * Group commit (design §1.2). While one publish is in flight the batches that arrive wait together and leave as one
 * message; each is answered only after that message's PubAck, that is after its fsync. A lone batch leaves at once.
 */
export class Committer {
  readonly #publish: Publish;
  readonly #payloadBytesMax: number;
  readonly #log: Logger;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(publish: Publish, payloadBytesMax: number, log: Logger) {
    this.#publish = publish;
    this.#payloadBytesMax = payloadBytesMax;
    this.#log = log;
  }

  /**
   * Makes a batch durable.
   *
   * @returns where the message is that holds it, when it is on disk.
   * @throws IngestError `ingest_unavailable` when that is not known. It may be durable all the same: a retry with
   *   the same ids is safe.
   */
  commit(batch: AcceptedBatch): Promise<QueuePosition> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Waits until everything that was given to `commit` is answered. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // Requests that came in with the same turn of the event loop share the first message already.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const count = takeGroup(
        this.#waiting.map(({ batch }) => batch),
        this.#payloadBytesMax,
      );
      await this.#commitGroup(this.#waiting.splice(0, count));
    }
    this.#running = undefined;
  }

  async #commitGroup(group: Waiting[]): Promise<void> {
    const startedMs = performance.now();
    try {
      const { payload, messageId } = sealGroup(group.map(({ batch }) => batch));
      const position = await this.#publish(payload, messageId);
      for (const { resolve } of group) resolve(position);
      const ms = Math.round(performance.now() - startedMs);
      this.#log.debug({ ...position, batches: group.length, bytes: payload.length, ms }, 'committed');
    } catch (error) {
      // What waits would only wait out another time-out each: nobody waits longer than one.
      const refused = error instanceof QueueSilentError ? [...group, ...this.#waiting.splice(0)] : group;
      this.#log.error({ err: error, batches: refused.length }, 'not committed');
      const unavailable = new IngestError(
        'ingest_unavailable',
        'The queue did not confirm the batch. Retry with the same event ids: that creates no duplicates.',
        { cause: error },
      );
      for (const { reject } of refused) reject(unavailable);
    }
  }
}
