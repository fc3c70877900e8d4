import { randomBytes, randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import type { IngestEvent } from '../../../event/event.ts';
import { projectEvents, projectionVersion } from '../../../event/projection.ts';
import { inSpace } from '../../../event/terms.ts';
import { type Part, PartSchema } from '../../../gen/weir/queue/v1/queue_pb.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { dayMs } from '../../../platform/time.ts';
import type { Database } from '../../../store/db/database.ts';
import { ensurePartitions } from '../../../store/db/partitions.ts';
import { foldStatistics } from '../../../store/write/statistics/fold.ts';

/** The events are spread over this time until now. */
export const grownDays = 30;

/** Every twentieth event is sent in a request of its own; the others 500 per request. */
const requestEvents = 500;
const singleEvery = 20;

/** Bytes of a segment for each event, of real events compressed 500 at a time and alone. */
const segmentBytes = { many: 164, one: 900 };

/** Rare values, spread over the whole time, and values that a fifth of the events of the older half have. */
export const rare = 'rare';
export const retired = 'retired';
/** One event in this many has a rare value. */
const rareEvery = 400_000;

/** Kinds of error messages. An odd number, so that each occurs with each error code. */
const failures = ['Timeout', 'Connection reset', 'Rate limit exceeded', 'Overloaded', 'No answer'];

/** Statements that run concurrently. */
const concurrency = 3;

/** Fills a space with `rows` events of {@link grownDays}, and with all statistics. */
export async function growSpace(
  database: Database,
  spaceId: string,
  { rows, nowMs, say }: { rows: number; nowMs: number; say: (text: string) => void },
): Promise<void> {
  for (let day = grownDays + 7; day >= 0; day -= 7) await ensurePartitions(database, nowMs - day * dayMs);
  const stepMs = (grownDays * dayMs) / rows;
  const startMsOf = (index: number) => Math.round(nowMs - (rows - index) * stepMs);
  await growEvents(database, spaceId, { from: 0, to: rows, retiredUntil: rows / 2, startMsOf, say });
  // The writer does it too, but may be behind.
  while ((await foldStatistics(database)) > 0);
  await database.execute('VACUUM ANALYZE');
}

/** The events to store. */
export interface Growth {
  /** The indexes of the events: from `from`, before `to`. */
  readonly from: number;
  readonly to: number;
  /** Events before this index may have the value that was frequent long ago. */
  readonly retiredUntil: number;
  /** The start time, and the time of receipt, of the event with an index. */
  readonly startMsOf: (index: number) => number;
  readonly say: (text: string) => void;
  /** Asked before each statement: whether to stop. */
  readonly isOver?: () => boolean;
}

/** Stores events as the writer does. @returns the index after the last one. */
export async function growEvents(database: Database, spaceId: string, growth: Growth): Promise<number> {
  const { from, to, say, isOver = () => false } = growth;
  let next = from;
  const fill = async () => {
    while (next < to && !isOver()) {
      const first = next;
      next += requestEvents;
      const events = Array.from({ length: Math.min(requestEvents, to - first) }, (_, i) =>
        makeEvent(first + i, growth),
      );
      await insertParts(database, toParts(spaceId, events));
      if ((first / requestEvents) % 200 === 0) say(`${first} of ${to} events`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, fill));
  return Math.min(next, to);
}

function toParts(spaceId: string, events: readonly IngestEvent[]): Part[] {
  const alone = events.filter((_, i) => i % singleEvery === 1);
  const together = events.filter((_, i) => i % singleEvery !== 1);
  return [together, ...alone.map((event) => [event])].map((request) => toPart(spaceId, request));
}

function toPart(spaceId: string, events: readonly IngestEvent[]): Part {
  const { eventCount, columns, terms } = projectEvents(events);
  const receivedAtMs = Math.max(...events.map(({ startTimeMs }) => startTimeMs));
  const body = randomBytes(eventCount === 1 ? segmentBytes.one : segmentBytes.many * eventCount);
  return create(PartSchema, {
    spaceId,
    apiKeyId: spaceId,
    receivedAtMs: BigInt(receivedAtMs),
    segmentId: uuidOf(receivedAtMs),
    eventCount,
    columns,
    projection: projectionVersion,
    rawBytes: BigInt(body.length),
    body,
    terms: inSpace(spaceId, terms).join(','),
  });
}

/** A UUIDv7 of that time. */
function uuidOf(atMs: number): string {
  const hex = atMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`;
}

function makeEvent(index: number, { retiredUntil, startMsOf }: Growth): IngestEvent {
  const startTimeMs = startMsOf(index);
  const isRetired = index < retiredUntil && index % 5 === 0;
  const isRare = index % rareEvery === rareEvery >> 1;
  const special = isRare ? rare : isRetired ? retired : undefined;
  // Sixteen sessions at a time, of 25 events each.
  const session = Math.floor(index / 400) * 16 + (index % 16);
  const isError = index % 50 === 7;
  const durationMs = isRare ? 100_000 : 200 + ((index * 7919) % 3_000);
  const common = {
    id: randomUUID(),
    traceId: uuidOfNumber(session),
    startTimeMs,
    endTimeMs: startTimeMs + durationMs,
    durationMs,
    status: isError
      ? { state: 'error' as const, error: failureOf(index, special) }
      : { state: 'ok' as const },
    instrumentation: { vendor: 'weir', source: special ?? `source-${index % 3}`, sourcePackage: 'p' },
    context: {
      threadId: special ?? `thread-${Math.floor(session / 4)}`,
      agentId: special ?? `agent-${session % 20}`,
      agentGroupId: special ?? `group-${session % 5}`,
      userId: special ?? `user-${(session * 31) % 5_000}`,
    },
    additionalProperties: { plan: special ?? `plan-${session % 3}`, seats: session % 100 },
  };
  const name = special ?? `name-${index % 6}`;
  if (index % 3 === 0) {
    return { ...common, type: 'tool', properties: { tool: { name, input: { city: 'Bern' }, output: '21' } } };
  }
  const usage = { inputTokens: 1_200, outputTokens: 80, totalTokens: 1_280 };
  const llm = { model: name, input: { prompt: `Hello, ${index}` }, output: { response: 'Hi!' }, usage };
  return { ...common, type: 'llm', properties: { llm } };
}

function failureOf(index: number, special: string | undefined) {
  const message = `${failures[index % failures.length]} after ${index % 9_000} ms`;
  return { code: special ?? `code-${index % 4}`, httpStatus: 500, message };
}

export function uuidOfNumber(value: number): string {
  return `00000000-0000-4000-8000-${value.toString(16).padStart(12, '0')}`;
}
