import { and, asc, desc, eq, gt, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../../store/db/database.ts';
import { segments } from '../../../store/db/schema.ts';
import { opaqueLimit } from '../../../store/db/statement.ts';
import { hasTerms } from '../../../store/read/candidate-segments.ts';
import { type EventFilter, termsOf } from '../../../store/read/event-filter.ts';
import { lastStartOfSegment } from '../../../store/read/event-position.ts';
import type { SearchCursor } from './search-cursor.ts';

export interface SearchedSegment extends SearchCursor {
  rawBytes: number;
}

const { id, spaceId, maxStartMs, minStartMs, rawBytes } = segments;

/** A limit above the number of segments of any space. It keeps Postgres from merging the subquery into the outer query. */
const everySegment = 2 ** 40;

/** Lists the next segments that may have matching events, latest start time first. */
export async function listSearchedSegments(
  database: Database,
  ofSpace: string,
  { filter, after, limit }: { filter: EventFilter; after: SearchCursor | undefined; limit: number },
): Promise<SearchedSegment[]> {
  const wanted = termsOf(ofSpace, filter);
  const lastStart = wanted.length === 0 ? sql<number>`${maxStartMs}` : lastStartOfSegment;
  const condition = and(
    eq(spaceId, ofSpace),
    filter.from === undefined ? undefined : gte(lastStart, filter.from),
    filter.to === undefined ? undefined : lt(minStartMs, filter.to),
    isAfter(after, lastStart),
  );
  if (wanted.length === 0) {
    return await database
      .select({ id, maxStartMs, rawBytes })
      .from(segments)
      .where(condition)
      .orderBy(desc(maxStartMs), asc(id))
      .limit(opaqueLimit(limit))
      .prepare('searched_segments')
      .execute();
  }
  // As in candidate-segments.ts: otherwise the planner would scan an ordered index past all segments without the terms.
  const candidates = database.$with('candidates').as(
    database
      .select({ id, maxStartMs, rawBytes })
      .from(segments)
      .where(and(condition, hasTerms(ofSpace, wanted)))
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
