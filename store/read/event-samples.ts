import { and, eq, gte, lt, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { events } from '../db/schema.ts';
import { opaqueArray, opaqueLimit } from '../db/statement.ts';
import { type EventFilter, matchValues } from './event-filter.ts';
import { newestFirst } from './event-position.ts';

export interface SampledSpan {
  readonly bucket: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Examines the newest events of each span, but not by the filter's time range. Omits empty spans. */
export async function sampleEvents(
  database: Database,
  spaceId: string,
  { filter, spans, eventsMax }: { filter: EventFilter; spans: readonly SampledSpan[]; eventsMax: number },
) {
  const list = (type: string, pick: (span: SampledSpan) => number) =>
    opaqueArray(`{${spans.map(pick).join(',')}}`, type);
  const last = database
    .select({
      matches: sql<boolean>`coalesce(${matchValues(filter) ?? sql`true`}, false)`.as('matches'),
      isError: sql<boolean>`${events.state} = 'error'`.as('is_error'),
    })
    .from(events)
    .where(
      and(
        eq(events.spaceId, spaceId),
        gte(events.startTimeMs, sql`span.first`),
        lt(events.startTimeMs, sql`span.last`),
      ),
    )
    .orderBy(...newestFirst())
    .limit(opaqueLimit(eventsMax))
    .as('last_events');
  return await database
    .select({
      bucket: sql<number>`span.bucket`,
      /** Number of examined events; less than the limit when the span has no more. */
      examined: sql<number>`count(*)::integer`,
      /** How many of them match the filter, and how many of those have the state `error`. */
      matching: sql<number>`(count(*) FILTER (WHERE ${last.matches}))::integer`,
      errors: sql<number>`(count(*) FILTER (WHERE ${last.matches} AND ${last.isError}))::integer`,
    })
    .from(
      sql`unnest(${list('integer', ({ bucket }) => bucket)}, ${list('float8', ({ fromMs }) => fromMs)},
        ${list('float8', ({ toMs }) => toMs)}) AS span(bucket, first, last)`,
    )
    .crossJoinLateral(last)
    .groupBy(sql`span.bucket`)
    .prepare('event_samples')
    .execute();
}
