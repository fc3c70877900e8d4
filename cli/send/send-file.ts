import { randomUUID } from 'node:crypto';
import { findMember, type Range } from '../../event/json/scan.ts';
import { bodyBytesMax } from '../../platform/limits.ts';
import { codeOf, messageOf } from '../../platform/thrown.ts';
import { batchBodies, createBodyMemory, type FileEvent } from '../client/body.ts';
import { openEventFile } from '../client/event-file.ts';
import { deriveId, withFreshId } from '../client/fresh-id.ts';
import { type IngestResponse, openIngestClient } from '../client/ingest-client.ts';
import { isTransient, type SendError, sendWithRetry, unexpectedAnswer } from '../client/send-with-retry.ts';
import { isSpanFile, openSpanFile, type SpanRequestBody } from '../client/span-file.ts';
import { CommandError } from '../host.ts';
import { sendTimeoutMs } from '../limits.ts';
import { type Changes, type CheckpointOptions, openCheckpoint } from './checkpoint.ts';
import { NotAcceptedError, retriesOf, type SendBodyOptions, sendBody } from './send-body.ts';
import { createSettledPart, type SendingFile, sendConcurrently } from './send-concurrently.ts';
import type { SendSummary, Tally } from './send-summary.ts';

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
  return await sendConcurrently(sending, file, {
    items: bodies,
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

async function findLatestTime(events: AsyncIterable<FileEvent>): Promise<number | undefined> {
  let latest: number | undefined;
  for await (const { bytes } of events) {
    for (const { value } of findTimes(bytes)) latest = Math.max(latest ?? value, value);
  }
  return latest;
}

/**
 * Adds `shiftMs` to the times of an event. All else stays, also a time that is no number: ingest reports it.
 */
function withShiftedTimes(event: Buffer, shiftMs: number): Buffer {
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

/**
 * Sends every request of a file of spans to ingest, byte for byte, as OTLP/JSON. The same file sent twice
 * stores each span once: event ids are those of the spans.
 * @returns the counts of events. Errors of requests and responses are counted, not thrown.
 * @throws the error of node:fs when the file cannot be opened.
 */
async function sendSpans(path: string, sending: SendingFile): Promise<SendSummary> {
  const { url, apiKey, concurrency, settled, before } = sending;
  const file = await openSpanFile(path, settled.addBadLine, before?.position);
  await using http = openIngestClient({
    url,
    path: '/v1/traces',
    apiKey,
    connections: concurrency,
    timeoutMs: sendTimeoutMs,
  });
  return await sendConcurrently(sending, file, {
    items: file.requests,
    positionOf: ({ position }) => position,
    send: (request, options) => sendRequest(request, { ...options, post: http.post }),
  });
}

async function sendRequest({ line, bytes }: SpanRequestBody, options: SendBodyOptions): Promise<void> {
  const { post, tally } = options;
  let answer: IngestResponse | undefined;
  const { error, attempts } = await sendWithRetry(post, bytes, {
    ...retriesOf(options),
    describeResponse: (response) => {
      answer = response;
      return describeResponse(response);
    },
  });
  tally.addRequests(attempts);
  if (error !== undefined && isTransient(error.status)) throw new NotAcceptedError(error);
  if (error !== undefined) tally.addRejected({ ...error, details: `Line ${line}: ${error.details}` }, 1);
  else if (answer !== undefined) countSpans(answer, line, tally);
}

function countSpans({ header, body }: IngestResponse, line: number, tally: Tally): void {
  tally.addAccepted(Number(header('weir-spans-stored')));
  tally.addFiltered(Number(header('weir-spans-filtered')));
  const { rejectedSpans = 0, errorMessage = '' } = readJson(body).partialSuccess ?? {};
  const rejected = Number(rejectedSpans);
  const details = `Line ${line}: ${errorMessage}`;
  if (rejected > 0) tally.addRejected({ status: 200, id: 'partial_success', details }, rejected);
}

/** google.rpc.Status, or ExportTraceServiceResponse. */
interface AnswerBody {
  message?: string;
  partialSuccess?: { rejectedSpans?: string; errorMessage?: string };
}

/** The message starts with its `error.id`. */
function describeResponse({ status, body }: IngestResponse): SendError | undefined {
  if (status === 200) return undefined;
  const [, id, details] = /^(\w+): (.*)$/s.exec(readJson(body).message ?? '') ?? [];
  if (id === undefined || details === undefined) return { status, ...unexpectedAnswer(body) };
  return { status, id, details };
}

function readJson(text: string): AnswerBody {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
