import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { addedNumberMax } from '../../../event/limits.ts';
import { sumParts } from '../../../event/usage/usage-parts.ts';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import type { Usage } from '../../../store/prices/cost-sum.ts';
import { listParts } from '../../../store/read/activity/activity-summary.ts';
import { matchTime, matchValues } from '../../../store/read/event-filter.ts';
import { sketchElement } from '../../../store/write/latency-sketch.ts';
import type { Cell } from '../charts/read-cells.ts';
import type { AlertFilter } from './rule.ts';

/** The sums of one bucket, and of one model if they are grouped. */
export type SeriesCell = Omit<Cell, 'reasoningTokens'> | EventSums;

/** The sums of events with the same price class. */
type EventSums = Omit<Cell, 'reasoningTokens' | 'slices'> & Usage & { readonly priceClass: string | null };

export interface CountQuery {
  readonly filter: AlertFilter;
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
  /** Counts only calls of models, by model. */
  readonly byModel: boolean;
  readonly withDurations: boolean;
}

/** Sums the events of a filter that statistics do not have, one by one: the work depends on the number of events in the time. */
export async function countEvents(
  database: Database,
  spaceId: string,
  { filter, startMs, endMs, stepMs, byModel, withDurations }: CountQuery,
): Promise<EventSums[]> {
  const { attributeKey, attributeValue, ...columns } = filter;
  const attributes =
    attributeKey === undefined || attributeValue === undefined
      ? []
      : [{ key: attributeKey, value: attributeValue }];
  const rows = await database
    .select({
      bucket: sql<number>`floor((${events.startTimeMs} - ${startMs}) / ${stepMs})::integer`,
      group: byModel ? sql<string>`coalesce(${events.name}, '')` : sql<string>`''`,
      events: sql<number>`count(*)::float8`,
      errors: sql<number>`(count(*) FILTER (WHERE ${eq(events.state, 'error')}))::float8`,
      inputTokens: clampedSum(events.inputTokens),
      outputTokens: clampedSum(events.outputTokens),
      cacheReadTokens: clampedSum(events.cacheReadTokens),
      cacheWriteTokens: clampedSum(events.cacheWriteTokens),
      priceClass: byModel ? sql<string | null>`${events.priceClass}` : sql<null>`NULL::text`,
      reportedCost: sql<string | null>`sum(${events.reportedCost})::text`,
      usageParts: listParts(events.usageParts),
      latency: withDurations ? sql<Buffer>`array_send(array_agg(${sketchElement}))` : sql<Buffer>`''::bytea`,
    })
    .from(events)
    .where(
      and(
        eq(events.spaceId, spaceId),
        matchTime({ from: startMs, to: endMs }),
        matchValues({ ...columns, attributes, ...(byModel && { type: 'llm' as const }) }),
      ),
    )
    .groupBy(sql`1`, sql`2`, events.priceClass);
  return rows.map((row) => ({ ...row, usageParts: sumParts(row.usageParts) }));
}

/** With the bounds of the statistics. */
function clampedSum(column: PgColumn): SQL<number> {
  return sql<number>`coalesce(sum(least(greatest(${column}, ${-addedNumberMax}::float8), ${addedNumberMax}::float8)), 0)::float8`;
}
