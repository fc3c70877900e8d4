import { errorTable } from '../../event/errors.ts';
import type { BadLine } from '../client/event-file.ts';
import { createLatencies } from '../client/latencies.ts';
import type { SendError } from '../client/send-with-retry.ts';
import type { SentPart } from './checkpoint.ts';
import type { Progress } from './progress.ts';
import { NotAcceptedError, type SendBodyOptions } from './send-body.ts';
import { type SendSummary, Tally } from './send-summary.ts';

export interface SendingFile {
  url: string;
  apiKey: string;
  /** Requests at once. */
  concurrency: number;
  /** How long one request is retried. */
  retryForMs: number;
  progress: Progress;
  settled: SettledPart;
  before: SentPart | undefined;
}

/** The requests of a file. */
interface Requests<Item> {
  items: AsyncIterable<Item>;
  /** Where an item ends in the file. */
  positionOf: (item: Item) => number;
  send: (item: Item, options: Omit<SendBodyOptions, 'post'>) => Promise<void>;
}

/** Sends every item with several requests at once, until one is not accepted within its retries. */
export async function sendConcurrently<Item>(
  { concurrency, retryForMs, progress, settled, before }: SendingFile,
  file: { sizeBytes: number; bytesRead(): number },
  { items, positionOf, send }: Requests<Item>,
): Promise<SendSummary> {
  const { total } = settled;
  const latencies = createLatencies();
  const acceptedBefore = before?.counts.accepted ?? 0;
  let stopped: SendError | undefined;
  const sendItems = async () => {
    for await (const one of items) {
      if (stopped !== undefined) return;
      const { tally, settle } = settled.begin(positionOf(one));
      try {
        await send(one, { tally, progress, retryForMs, onResponse: latencies.record });
      } catch (error) {
        if (!(error instanceof NotAcceptedError)) throw error;
        stopped ??= error.reason;
        return;
      }
      settle();
      const share = file.sizeBytes === 0 ? 1 : file.bytesRead() / file.sizeBytes;
      progress.show({ share, accepted: total.accepted - acceptedBefore, rejected: total.rejected });
    }
  };
  const started = performance.now();
  // The concurrent loops share one iterator.
  await Promise.all(Array.from({ length: concurrency }, sendItems));
  if (stopped === undefined) settled.end();
  return { ...total.sum(performance.now() - started, latencies), ...(stopped && { stopped }) };
}

type SettledPart = ReturnType<typeof createSettledPart>;

/**
 * Adds up outcomes in the order of the file, so that a command can continue, although answers come in any.
 */
export function createSettledPart(before: SentPart | undefined, onSettled: (part: SentPart) => void) {
  const total = new Tally(before?.counts);
  const pending: { position: number; tally: Tally; isSettled: boolean }[] = [];
  let badLines: BadLine[] = [];
  let reached = before?.position ?? 0;
  const part = (): SentPart => ({ position: reached, counts: total.counts() });
  const addBadLines = (position: number) => {
    for (const line of badLines.filter((one) => one.position <= position)) {
      total.addRejected({ status: errorTable[line.id].status, id: line.id, details: line.details }, 1);
    }
    badLines = badLines.filter((one) => one.position > position);
  };
  const moveOn = () => {
    while (pending[0]?.isSettled) {
      const { position, tally } = pending[0];
      pending.shift();
      addBadLines(position);
      total.merge(tally);
      reached = position;
      onSettled(part());
    }
  };
  return {
    total,
    part,
    /** Called in the order of the file. @param position the end of the request in the file. */
    begin(position: number) {
      const sending = { position, tally: new Tally(), isSettled: false };
      pending.push(sending);
      return {
        tally: sending.tally,
        /** Everything in the request was answered. */
        settle() {
          sending.isSettled = true;
          moveOn();
        },
      };
    },
    addBadLine: (line: BadLine) => void badLines.push(line),
    end: () => addBadLines(Number.POSITIVE_INFINITY),
  };
}
