import { batchBodies, type FileEvent } from '../lib/client/body.ts';
import { type EventFile, openEventFile } from '../lib/client/event-file.ts';
import { withFreshId } from '../lib/client/fresh-id.ts';
import { createLatencies } from '../lib/client/latencies.ts';
import { openPost } from '../lib/client/post.ts';
import { errorTable } from '../lib/errors.ts';
import { bodyBytesMax, sendTimeoutMs } from '../lib/limits.ts';
import { CommandFailure } from './host.ts';
import type { Progress } from './progress.ts';
import { sendBody } from './send-body.ts';
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
 * Sends every event of a file to ingest, byte for byte as its line has it. An event is sent once, unless its request must
 * be retried, or was refused for what may be another event's fault.
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
  const events = options.freshIds ? refreshIds(file.events) : file.events;
  const limits = { eventsMax: options.eventsPerBatch, bytesMax: bodyBytesMax };
  // One iterator for all senders: each takes the next body when its last one is settled.
  const bodies = batchBodies(events, limits);
  const sendBodies = async () => {
    for await (const body of bodies) {
      await sendBody(body, {
        post: http.post,
        tally,
        progress: options.progress,
        onAnswer: latencies.record,
      });
      showProgress(options.progress, file, tally);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: options.concurrency }, sendBodies));
  return tally.sum(performance.now() - started, latencies);
}

function showProgress(progress: Progress, file: EventFile, tally: Tally): void {
  const share = file.sizeBytes === 0 ? 1 : file.bytesRead() / file.sizeBytes;
  progress.show({ share, accepted: tally.accepted(), rejected: tally.rejected() });
}

async function* refreshIds(events: AsyncIterable<FileEvent>): AsyncGenerator<FileEvent, void, void> {
  for await (const { line, bytes } of events) yield { line, bytes: withFreshId(bytes) };
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
