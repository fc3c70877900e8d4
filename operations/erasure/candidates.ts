import { asc, type SQL, sql } from 'drizzle-orm';
import { divideSegments } from '../../event/segment/batches.ts';
import { anyTerm, inSpace } from '../../event/terms.ts';
import type { Database } from '../../store/db/database.ts';
import { segments } from '../../store/db/schema.ts';
import { nameOf } from '../../store/db/statement.ts';
import { batchBytesMax, batchSegmentsMax, segmentsListed } from './limits.ts';
import { type ErasureStart, wasAcceptedBefore } from './start.ts';
import { type Subject, termOf } from './subject.ts';

interface Candidate {
  readonly id: string;
  readonly rawBytes: number;
}

export type Batch = readonly string[];

/** Which segments to list: those stored or queued before `start`, or all of them when it is undefined. */
export interface Candidates {
  readonly spaceId: string;
  readonly subject: Subject;
  readonly start?: ErasureStart;
}

/** Lists segments that may have events to erase, ordered by id, in bounded batches. */
export async function* listBatches(database: Database, erasure: Candidates): AsyncGenerator<Batch> {
  let after: string | undefined;
  do {
    const listed: Candidate[] = await listCandidates(database, erasure, after);
    yield* divideSegments(listed, { segmentsMax: batchSegmentsMax, bytesMax: batchBytesMax });
    after = listed[segmentsListed - 1]?.id;
  } while (after !== undefined);
}

async function listCandidates(
  database: Database,
  { spaceId, subject, start }: Candidates,
  after: string | undefined,
): Promise<Candidate[]> {
  const { id, rawBytes, minStartMs } = segments;
  const term = termOf(spaceId, subject);
  const mayMatch =
    subject.kind === 'before'
      ? sql`${minStartMs} < ${subject.timeMs}`
      : subject.kind === 'space'
        ? sql`true`
        : sql`(${hasTerm(term)} OR ${hasTerm(inSpace(spaceId, [anyTerm])[0])})`;
  return database.execute<{ id: string; rawBytes: number }>(sql`
    -- Sorted outside: with an ordered index at hand the planner would walk it past all segments that lack the term.
    WITH candidates AS MATERIALIZED (
      SELECT ${id}, ${rawBytes} FROM ${segments}
      WHERE ${segments.spaceId} = ${spaceId} AND ${mayMatch}
        AND ${start === undefined ? sql`true` : wasAcceptedBefore(spaceId, start)}
        AND ${after === undefined ? sql`true` : sql`${id} > ${after}::uuid`}
    )
    SELECT ${nameOf(id)}, ${nameOf(rawBytes)} AS "rawBytes" FROM candidates ORDER BY ${asc(nameOf(id))} LIMIT ${segmentsListed}`);
}

function hasTerm(term: bigint | undefined): SQL {
  return sql`${segments.terms} @> ${`{${term}}`}::bigint[]`;
}
