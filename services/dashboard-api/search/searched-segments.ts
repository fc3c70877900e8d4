import { and, asc, desc, eq, gt, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../../store/db/database.ts';
import { segments } from '../../../store/db/schema.ts';
import { opaqueLimit } from '../../../store/db/statement.ts';
import { mayMatch } from '../../../store/read/candidate-segments.ts';
import { type EventFilter, termsOf } from '../../../store/read/event-filter.ts';
import { lastStartOfSegment } from '../../../store/read/event-position.ts';
import type { SearchCursor } from './search-cursor.ts';

export interface SearchedSegment extends SearchCursor {
  rawBytes: number;
}

const { id, spaceId, maxStartMs, minStartMs, rawBytes } = segments;

/** A limit above any space's segments: keeps Postgres from merging the subquery into the outer query. */
const everySegment = 2 ** 40;

/** The next ones that may have matching events, latest start time first. */
export async function listSearchedSegments(
  database: Database,
  ofSpace: string,
  { filter, after, limit }: { filter: EventFilter; after: SearchCursor | undefined; limit: number },
): Promise<SearchedSegment[]> {
  const mayHave = mayMatch(ofSpace, termsOf(ofSpace, filter), filter);
  const condition = conditionOf(ofSpace, filter, after);
  if (mayHave === undefined) {
    return await database
      .select({ id, maxStartMs, rawBytes })
      .from(segments)
      .where(condition)
      .orderBy(desc(maxStartMs), asc(id))
      .limit(opaqueLimit(limit))
      .prepare('searched_segments')
      .execute();
  }
  // Otherwise the planner would scan an ordered index past all segments without the terms.
  const candidates = database
    .$with('candidates')
    .as(
      database
        .select({ id, maxStartMs, rawBytes })
        .from(segments)
        .where(and(condition, mayHave))
        .limit(everySegment),
    );
  return await database
    .with(candidates)
    .select({ id: candidates.id, maxStartMs: candidates.maxStartMs, rawBytes: candidates.rawBytes })
    .from(candidates)
    .orderBy(desc(candidates.maxStartMs), asc(candidates.id))
    .limit(limit);
}

function isAfter(after: SearchCursor | undefined, lastStart: SQL<number>): SQL | undefined {
  if (after === undefined) return undefined;
  return and(lte(lastStart, after.maxStartMs), or(lt(lastStart, after.maxStartMs), gt(id, after.id)));
}

/** Adding up more would take Postgres longer than some tens of milliseconds. */
const addedSegmentsMax = 100_000;

/** The bytes of the segments that a search has left; null when they are too many to add up. */
export async function sumLeftBytes(
  database: Database,
  ofSpace: string,
  { filter, after }: { filter: EventFilter; after: SearchCursor | undefined },
): Promise<number | null> {
  const left = database
    .select({ rawBytes })
    .from(segments)
    .where(and(conditionOf(ofSpace, filter, after), mayMatch(ofSpace, termsOf(ofSpace, filter), filter)))
    .limit(addedSegmentsMax + 1)
    .as('left_segments');
  const [row] = await database
    .select({
      count: sql<number>`count(*)::integer`,
      bytes: sql<number>`coalesce(sum(${left.rawBytes}), 0)::float8`,
    })
    .from(left);
  return row === undefined || row.count > addedSegmentsMax ? null : row.bytes;
}

function conditionOf(ofSpace: string, filter: EventFilter, after: SearchCursor | undefined): SQL | undefined {
  const isInOrder = mayMatch(ofSpace, termsOf(ofSpace, filter), filter) === undefined;
  const lastStart = isInOrder ? sql<number>`${maxStartMs}` : lastStartOfSegment;
  return and(
    eq(spaceId, ofSpace),
    filter.from === undefined ? undefined : gte(lastStart, filter.from),
    filter.to === undefined ? undefined : lt(minStartMs, filter.to),
    isAfter(after, lastStart),
  );
}
