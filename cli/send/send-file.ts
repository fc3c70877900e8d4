import { batchBodies, type FileEvent } from '../../lib/client/body.ts';
import { type EventFile, openEventFile } from '../../lib/client/event-file.ts';
import { withFreshId } from '../../lib/client/fresh-id.ts';
import { openIngestClient } from '../../lib/client/ingest-client.ts';
import { createLatencies } from '../../lib/client/latencies.ts';
import { findLatestTime, withShiftedTimes } from '../../lib/client/shifted-times.ts';
import { isSpanFile } from '../../lib/client/span-file.ts';
import { errorTable } from '../../lib/errors.ts';
import { bodyBytesMax } from '../../lib/limits.ts';
import { CommandError } from '../host.ts';
import { sendTimeoutMs } from '../limits.ts';
import type { Progress } from './progress.ts';
import { sendBody } from './send-body.ts';
import { sendSpans } from './send-spans.ts';
import { createTally, type SendSummary, type Tally } from './send-summary.ts';

export interface SendFileOptions {
  url: string;
  apiKey: string;
  freshIds: boolean;
  /** Shifts all times by the same distance, so that the latest is now. */
  isNow: boolean;
  eventsPerBatch: number;
  /** Requests at once. */
  concurrency: number;
  progress: Progress;
}

/**
 * Sends every event, or every span, of a file to ingest, with unchanged bytes unless `freshIds` or `isNow`. An event is sent once, unless its request is
 * retried, or was rejected for an error that may be another event's.
 *
 * @returns the counts of accepted and rejected events. Errors of lines and responses are counted, not thrown.
 * @throws CommandError when the file cannot be opened.
 */
export async function sendFile(path: string, options: SendFileOptions): Promise<SendSummary> {
  if (await isSpanFile(path).catch(throwFileError(path))) {
    if (options.freshIds) throw new CommandError('--fresh-ids works only for events: a span keeps its id.');
    if (options.isNow) throw new CommandError('--now works only for events: a span keeps its times.');
    return sendSpans(path, options);
  }
  const shiftMs = options.isNow ? await findShift(path) : 0;
  const tally = createTally();
  const latencies = createLatencies();
  const file = await openEventFile(path, ({ id, details }) =>
    tally.addRejected({ status: errorTable[id].status, id, details }, 1),
  ).catch(throwFileError(path));
  await using http = openIngestClient({
    url: options.url,
    apiKey: options.apiKey,
    connections: options.concurrency,
    timeoutMs: sendTimeoutMs,
  });
  const events = changeEvents(file.events, { freshIds: options.freshIds, shiftMs });
  const limits = { eventsMax: options.eventsPerBatch, bytesMax: bodyBytesMax };
  // The concurrent loops share one iterator: each takes the next body when its previous one is settled.
  const bodies = batchBodies(events, limits);
  const sendBodies = async () => {
    for await (const body of bodies) {
      await sendBody(body, {
        post: http.post,
        tally,
        progress: options.progress,
        onResponse: latencies.record,
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

/** Reads the file once more: the distance from its latest time to now. */
async function findShift(path: string): Promise<number> {
  // Lines that cannot be sent are reported when they are sent.
  const { events } = await openEventFile(path, () => {}).catch(throwFileError(path));
  const latest = await findLatestTime(events);
  return latest === undefined ? 0 : Date.now() - Math.ceil(latest);
}

async function* changeEvents(
  events: AsyncIterable<FileEvent>,
  { freshIds, shiftMs }: { freshIds: boolean; shiftMs: number },
): AsyncGenerator<FileEvent, void, void> {
  for await (const { line, bytes } of events) {
    const shifted = shiftMs === 0 ? bytes : withShiftedTimes(bytes, shiftMs);
    yield { line, bytes: freshIds ? withFreshId(shifted) : shifted };
  }
}

function throwFileError(path: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new CommandError(`There is no file ${path}.`);
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`The file ${path} cannot be read: ${reason}.`);
  };
}
