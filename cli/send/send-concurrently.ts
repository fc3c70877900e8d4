import { createLatencies } from '../client/latencies.ts';
import type { SendError } from '../client/send-with-retry.ts';
import type { SentPart } from './checkpoint.ts';
import type { Progress } from './progress.ts';
import { NotAcceptedError, type SendBodyOptions } from './send-body.ts';
import type { SendSummary } from './send-summary.ts';
import type { SettledPart } from './settled-part.ts';

/** A file that is being sent. */
export interface SendingFile {
  url: string;
  apiKey: string;
  /** Requests at once. */
  concurrency: number;
  /** How long one request is retried. */
  retryForMs: number;
  progress: Progress;
  settled: SettledPart;
  /** What an earlier command sent. */
  before: SentPart | undefined;
}

/**
 * Sends every item with several requests at once, until one is not accepted for as long as it is retried.
 *
 * @param item how to send an item, and the position in the file where it ends.
 */
export async function sendConcurrently<Item>(
  { concurrency, retryForMs, progress, settled, before }: SendingFile,
  file: { sizeBytes: number; bytesRead(): number },
  items: AsyncIterable<Item>,
  item: {
    positionOf: (item: Item) => number;
    send: (item: Item, options: Omit<SendBodyOptions, 'post'>) => Promise<void>;
  },
): Promise<SendSummary> {
  const { total } = settled;
  const latencies = createLatencies();
  const acceptedBefore = before?.counts.accepted ?? 0;
  let stopped: SendError | undefined;
  const sendItems = async () => {
    for await (const one of items) {
      if (stopped !== undefined) return;
      const { tally, settle } = settled.begin(item.positionOf(one));
      try {
        await item.send(one, { tally, progress, retryForMs, onResponse: latencies.record });
      } catch (error) {
        if (!(error instanceof NotAcceptedError)) throw error;
        stopped ??= error.reason;
        return;
      }
      settle();
      const share = file.sizeBytes === 0 ? 1 : file.bytesRead() / file.sizeBytes;
      progress.show({ share, accepted: total.accepted() - acceptedBefore, rejected: total.rejected() });
    }
  };
  const started = performance.now();
  // The concurrent loops share one iterator: each takes the next item when its previous one is settled.
  await Promise.all(Array.from({ length: concurrency }, sendItems));
  if (stopped === undefined) settled.end();
  return { ...total.sum(performance.now() - started, latencies), ...(stopped && { stopped }) };
}
