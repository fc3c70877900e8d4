import { and, desc, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import { anyTerm, inSpace } from '../../../event/terms.ts';
import type { Database } from '../../db/database.ts';
import { segments } from '../../db/schema.ts';
import { type EventFilter, termsOf } from '../event-filter.ts';

/** A column that groups events by thread or by user. */
export type ActivityColumn = 'threadId' | 'userId';

/** The values, of one column, whose events are summarized. */
export interface SegmentQuery {
  column: ActivityColumn;
  values: readonly string[];
  range: Pick<EventFilter, 'from' | 'to'>;
}

/** Limit of the segments that are read: each has a fixed cost besides its events. */
const segmentsMax = 400;

/** Candidate segments that are sorted by time to choose the newest. */
const sortedSegmentsMax = 20_000;

interface ListedSegment {
  id: string;
  eventCount: number;
}

/** The newest that have `eventsMax` events together, with the one that exceeds it. @returns their ids. */
export function takeSegments(listed: readonly ListedSegment[], eventsMax: number): string[] {
  let events = 0;
  const end = listed.findIndex(({ eventCount }, place) => {
    const isFull = place === segmentsMax || events >= eventsMax;
    events += eventCount;
    return isFull;
  });
  return listed.slice(0, end === -1 ? undefined : end).map(({ id }) => id);
}

/** The newest segments that may have an event with one of the values. */
export async function listSegments(
  database: Database,
  spaceId: string,
  { column, values, range }: SegmentQuery,
): Promise<ListedSegment[]> {
  const { id, maxStartMs, minStartMs, eventCount } = segments;
  const candidates = database.$with('candidates').as(
    database
      .select({ id, maxStartMs, eventCount })
      .from(segments)
      .where(
        and(
          eq(segments.spaceId, spaceId),
          overlaps([
            ...values.flatMap((value) => termsOf(spaceId, { [column]: value })),
            ...inSpace(spaceId, [anyTerm]),
          ]),
          range.from === undefined ? undefined : gte(maxStartMs, range.from),
          range.to === undefined ? undefined : lt(minStartMs, range.to),
        ),
      )
      .limit(sortedSegmentsMax),
  );
  return await database
    .with(candidates)
    .select({ id: candidates.id, eventCount: candidates.eventCount })
    .from(candidates)
    .orderBy(desc(candidates.maxStartMs))
    .limit(segmentsMax + 1);
}

/** Segments with at least one of the terms. */
function overlaps(terms: readonly bigint[]): SQL {
  return sql`${segments.terms} && ${`{${terms.join(',')}}`}::bigint[]`;
}
