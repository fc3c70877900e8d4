import { type Body, batchBodies } from '../lib/client/body.ts';
import { deliver } from '../lib/client/deliver.ts';
import { type EventFile, openEventFile } from '../lib/client/event-file.ts';
import { withFreshId } from '../lib/client/fresh-id.ts';
import { createLatencies } from '../lib/client/latencies.ts';
import { openPost, type Post } from '../lib/client/post.ts';
import { errorTable } from '../lib/errors.ts';
import { bodyBytesMax, sendRetryForMs, sendTimeoutMs } from '../lib/limits.ts';
import { CommandFailure } from './host.ts';
import type { Progress } from './progress.ts';
import { createTally, type SendSummary, type Tally } from './send-summary.ts';

export interface SendFileOptions {
  url: string;
  apiKey: string;
  freshIds: boolean;
  eventsPerBatch: number;
  /** Requests at once. */
  concurrency: number;
  progress: Progress;
}

/**
 * Sends every event of a file to ingest, each once unless it must be retried, byte for byte as its line has it.
 *
 * @returns what was accepted and what was not; nothing that is wrong with a line or an answer is thrown.
 * @throws CommandFailure when the file cannot be opened.
 */
export async function sendFile(path: string, options: SendFileOptions): Promise<SendSummary> {
  const tally = createTally();
  const latencies = createLatencies();
  const file = await openEventFile(path, ({ id, details }) =>
    tally.addRejected({ status: errorTable[id].status, id, details }, 1),
  ).catch(refuseFile(path));
  await using http = openPost({
    url: options.url,
    apiKey: options.apiKey,
    connections: options.concurrency,
    timeoutMs: sendTimeoutMs,
  });
  const events = options.freshIds ? mapEvents(file.events, withFreshId) : file.events;
  const limits = { eventsMax: options.eventsPerBatch, bytesMax: bodyBytesMax };
  // One iterator for all senders: each takes the next body when its last one is settled.
  const bodies = batchBodies(events, limits);
  const sendBodies = async () => {
    for await (const body of bodies) {
      await sendBody(http.post, body, { tally, progress: options.progress, onAnswer: latencies.record });
      showProgress(options.progress, file, tally);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: options.concurrency }, sendBodies));
  return tally.sum(performance.now() - started, latencies);
}

async function sendBody(
  post: Post,
  body: Body,
  { tally, progress, onAnswer }: { tally: Tally; progress: Progress; onAnswer: (durationMs: number) => void },
): Promise<void> {
  const delivery = await deliver(post, body.bytes, {
    retryForMs: sendRetryForMs,
    onAnswer,
    onRetry: ({ status, details }) => {
      progress.warn(
        `${status ?? 'No answer'} (${details}): trying again for up to ${sendRetryForMs / 1_000} s.`,
      );
    },
  });
  tally.addRequests(delivery.attempts);
  if (delivery.error === undefined) tally.addAccepted(body.eventCount);
  else tally.addRejected(delivery.error, body.eventCount);
}

function showProgress(progress: Progress, file: EventFile, tally: Tally): void {
  const share = file.sizeBytes === 0 ? 1 : file.bytesRead() / file.sizeBytes;
  progress.show({ share, accepted: tally.accepted(), rejected: tally.rejected() });
}

async function* mapEvents(events: AsyncIterable<Buffer>, change: (event: Buffer) => Buffer) {
  for await (const event of events) yield change(event);
}

function refuseFile(path: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new CommandFailure(`There is no file ${path}.`);
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`The file ${path} cannot be read: ${reason}.`);
  };
}
