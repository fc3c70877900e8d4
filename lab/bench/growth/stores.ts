import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { PartSchema } from '../../../gen/weir/queue/v1/queue_pb.ts';
import { llmEvent } from '../../../harness/fixtures/events.ts';
import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../../harness/fixtures/part.ts';
import type { Part } from '../../../platform/queue/group.ts';
import type { Database } from '../../../store/db/database.ts';

/** Events of a statement, at most: a request has no more. */
const statementEvents = 500;
/** The body of a segment has at most 4 MiB. */
const statementBytes = 4 * 1024 ** 2;
const statements = 20;
/**
 * Statements before the timed ones, on the same connections: Postgres plans the first five times of a
 * prepared statement anew.
 */
const warmUpStatements = 6;

const words = 'weather invoice answer customer report window engine summary budget contract'.split(' ');

/** Stores events with a prompt of this length, with random UUIDv4 ids. @returns events per second. */
export async function measureEventSize(
  database: Database,
  spaceId: string,
  eventBytes: number,
): Promise<number> {
  const count = Math.min(statementEvents, Math.floor(statementBytes / (eventBytes * 1.2)));
  const parts = Array.from({ length: warmUpStatements + statements }, (_, i) =>
    partOf(
      spaceId,
      Array.from({ length: count }, (_, j) => largeEvent(eventBytes, i * count + j)),
    ),
  );
  return await rateOf(
    database,
    parts.map((part) => [part]),
    count,
  );
}

/**
 * Stores statements of 500 events, each event in a segment of one of these spaces.
 * @returns events per second.
 */
export async function measureSpaces(database: Database, spaces: number): Promise<number> {
  const ids = Array.from({ length: spaces }, () => randomUUIDv7());
  const [template] = ids.map((spaceId) =>
    partOf(spaceId, [llmEvent({ startTimeMs: Date.now(), endTimeMs: Date.now() })]),
  );
  let next = 0;
  const groups = Array.from(
    { length: warmUpStatements + Math.max(statements, spaces / statementEvents) },
    () => Array.from({ length: statementEvents }, () => copyOf(template, ids[next++ % ids.length] ?? '')),
  );
  return await rateOf(database, groups, statementEvents);
}

async function rateOf(database: Database, groups: readonly Part[][], eventsEach: number): Promise<number> {
  for (const parts of groups.slice(0, warmUpStatements)) await insertParts(database, parts);
  const timed = groups.slice(warmUpStatements);
  const startedMs = performance.now();
  for (const parts of timed) await insertParts(database, parts);
  return (timed.length * eventsEach * 1_000) / (performance.now() - startedMs);
}

/** The part with new ids. Its terms are those of the first space, which only that space's filters use. */
function copyOf(part: Part | undefined, spaceId: string): Part {
  if (part?.columns === undefined) throw new Error('there is no part');
  const columns = { ...part.columns, id: randomUUID() };
  return create(PartSchema, { ...part, spaceId, segmentId: randomUUIDv7(), columns });
}

function largeEvent(bytes: number, seed: number) {
  let prompt = '';
  for (let i = 0; prompt.length < bytes - 700; i++)
    prompt += `${words[(seed * 31 + i * 7) % words.length]} ${(seed * 7919 + i * 104_729) % 99_991} `;
  const usage = { inputTokens: 12, outputTokens: 3, totalTokens: 15 };
  const llm = { model: 'gpt-4o', input: { prompt }, output: { response: 'Hi!' }, usage };
  const startTimeMs = Date.now();
  return llmEvent({ startTimeMs, endTimeMs: startTimeMs, properties: { llm } });
}
