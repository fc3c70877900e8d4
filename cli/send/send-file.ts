import { randomUUID } from 'node:crypto';
import { findMember, type Range } from '../../event/json/scan.ts';
import { bodyBytesMax } from '../../platform/limits.ts';
import { codeOf, messageOf } from '../../platform/thrown.ts';
import { batchBodies, createBodyMemory, type FileEvent } from '../client/body.ts';
import { openEventFile } from '../client/event-file.ts';
import { deriveId, withFreshId } from '../client/fresh-id.ts';
import { openIngestClient } from '../client/ingest-client.ts';
import { isSpanFile } from '../client/span-file.ts';
import { CommandError } from '../host.ts';
import { sendTimeoutMs } from '../limits.ts';
import { type Changes, type CheckpointOptions, openCheckpoint } from './checkpoint.ts';
import { sendBody } from './send-body.ts';
import { createSettledPart, type SendingFile, sendConcurrently } from './send-concurrently.ts';
import { sendSpans } from './send-spans.ts';
import type { SendSummary } from './send-summary.ts';

export interface SendFileOptions
  extends Pick<SendingFile, 'url' | 'apiKey' | 'concurrency' | 'retryForMs' | 'progress'>,
    Pick<CheckpointOptions, 'isRestart' | 'pid' | 'report'> {
  freshIds: boolean;
  /** Shifts all times by the same distance, so that the latest is now. */
  isNow: boolean;
  eventsPerBatch: number;
}

/**
 * Sends every event or span of a file, with unchanged bytes unless `freshIds` or `isNow`. Continues an
 * interrupted command: what it repeats has the same ids, so that each event is stored once.
 * @returns the counts. Errors of lines and responses are counted, not thrown.
 * @throws CommandError when the file cannot be opened.
 */
export async function sendFile(path: string, options: SendFileOptions): Promise<SendSummary> {
  const { url, apiKey, freshIds, isNow } = options;
  const isSpans = await isSpanFile(path).catch(throwFileError(path));
  if (isSpans && freshIds) throw new CommandError('--fresh-ids works only for events: a span keeps its id.');
  if (isSpans && isNow) throw new CommandError('--now works only for events: a span keeps its times.');
  const target = [url, apiKey, freshIds, isNow];
  const checkpoint = await openCheckpoint(path, { ...options, target }).catch(throwFileError(path));
  const { before } = checkpoint;
  const changes = before ?? { idSeed: randomUUID(), shiftMs: isNow ? await findShift(path) : 0 };
  const settled = createSettledPart(before, (part) => checkpoint.save(part, changes));
  // Before the first request: a command that continues needs the same seed.
  if (before === undefined)
    checkpoint.save({ position: 0, counts: settled.total.counts() }, changes, { isForced: true });
  const sending = { ...options, settled, before };
  const summary = await (isSpans ? sendSpans(path, sending) : sendEvents(path, { ...sending, changes }));
  if (summary.stopped === undefined) await checkpoint.remove();
  else checkpoint.save(settled.part(), changes, { isForced: true });
  return summary;
}

async function sendEvents(
  path: string,
  sending: SendingFile & SendFileOptions & { changes: Changes },
): Promise<SendSummary> {
  const { url, apiKey, concurrency, settled, before } = sending;
  const file = await openEventFile(path, settled.addBadLine, {
    afterLine: before?.position,
    isReused: true,
  }).catch(throwFileError(path));
  await using http = openIngestClient({ url, apiKey, connections: concurrency, timeoutMs: sendTimeoutMs });
  const limits = { eventsMax: sending.eventsPerBatch, bytesMax: bodyBytesMax };
  const memory = createBodyMemory(bodyBytesMax);
  const bodies = batchBodies(changeEvents(file.events, sending), limits, memory.take);
  return await sendConcurrently(sending, file, bodies, {
    positionOf: (body) => body.events.at(-1)?.line ?? 0,
    async send(body, bodyOptions) {
      await sendBody(body, { ...bodyOptions, post: http.post });
      memory.giveBack(body);
    },
  });
}

/** Reads the file once more: the distance from its latest time to now. */
async function findShift(path: string): Promise<number> {
  // Sending reports lines that cannot be sent.
  const { events } = await openEventFile(path, () => {}, { isReused: true }).catch(throwFileError(path));
  const latest = await findLatestTime(events);
  return latest === undefined ? 0 : Date.now() - Math.ceil(latest);
}

async function* changeEvents(
  events: AsyncIterable<FileEvent>,
  { freshIds, changes: { idSeed, shiftMs } }: { freshIds: boolean; changes: Changes },
): AsyncGenerator<FileEvent, void, void> {
  for await (const { line, bytes } of events) {
    const shifted = shiftMs === 0 ? bytes : withShiftedTimes(bytes, shiftMs);
    yield { line, bytes: freshIds ? withFreshId(shifted, deriveId(idSeed, line)) : shifted };
  }
}

function throwFileError(path: string): (error: unknown) => never {
  return (error) => {
    if (codeOf(error) === 'ENOENT') {
      throw new CommandError(`There is no file ${path}.`);
    }
    throw new CommandError(`The file ${path} cannot be read: ${messageOf(error)}.`);
  };
}

/** The members of an event that are times, in milliseconds since the epoch. */
const timeMembers = ['startTimeMs', 'endTimeMs'];

export async function findLatestTime(events: AsyncIterable<FileEvent>): Promise<number | undefined> {
  let latest: number | undefined;
  for await (const { bytes } of events) {
    for (const { value } of findTimes(bytes)) latest = Math.max(latest ?? value, value);
  }
  return latest;
}

/**
 * Adds `shiftMs` to the times of an event. All else stays, also a time that is no number: ingest reports it.
 */
export function withShiftedTimes(event: Buffer, shiftMs: number): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  for (const { start, end, value } of findTimes(event)) {
    parts.push(event.subarray(copied, start), Buffer.from(String(value + shiftMs)));
    copied = end;
  }
  return Buffer.concat([...parts, event.subarray(copied)]);
}

/** In the order of the text. */
function findTimes(event: Buffer): (Range & { value: number })[] {
  try {
    return timeMembers
      .flatMap((name) => findMember(event, name) ?? [])
      .map(({ start, end }) => ({ start, end, value: Number(event.toString('latin1', start, end)) }))
      .filter(({ start, value }) => Number.isFinite(value) && isNumber(event[start]))
      .toSorted((a, b) => a.start - b.start);
  } catch {
    // Not an object: ingest reports it.
    return [];
  }
}

/** Whether a value begins as a number: `""` and `true` are numbers to JavaScript. */
function isNumber(byte: number | undefined): boolean {
  return byte !== undefined && (byte === 0x2d || (byte >= 0x30 && byte <= 0x39));
}
