import { and, asc, desc, gt, gte, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { events, segments } from '../db/schema.ts';
import type { EventCursor } from './event-cursor.ts';

/** Compares in list order: newest start first, ids ascending where starts are equal. */
export function compareEvents(a: EventCursor, b: EventCursor): number {
  return b.startTimeMs - a.startTimeMs || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/** List order, as of the index events_by_start_time. Without NULLS LAST Postgres sorts the whole space. */
export function newestFirst(
  start: PgColumn | SQL = events.startTimeMs,
  id: PgColumn | SQL = events.id,
): SQL[] {
  return [sql`${start} desc nulls last`, asc(id)];
}

/** Reverse list order; the same index serves it. */
export function oldestFirst(
  start: PgColumn | SQL = events.startTimeMs,
  id: PgColumn | SQL = events.id,
): SQL[] {
  return [sql`${start} asc nulls first`, desc(id)];
}

/** The place of a row of a subquery in an order, from 1, as `place`. */
export function placeIn(order: readonly SQL[]) {
  return sql<number>`(row_number() OVER (ORDER BY ${sql.join([...order], sql`, `)}))::integer`.as('place');
}

/**
 * The start time, for statements that read events by segment. In a generic plan a range on the plain column
 * looks so selective that Postgres would scan the index on start times for each segment: seconds with
 * millions of events.
 */
export const startInSegment = sql`(${events.startTimeMs} + 0)`;

/**
 * The last start time of a segment, for statements that find segments by term. A range on the plain column
 * looks selective to the planner but may include most segments of the space.
 */
export const lastStartOfSegment = sql<number>`(${segments.maxStartMs} + 0)`;

/** The condition on events before a position. */
export function isBefore(
  { startTimeMs, id }: EventCursor,
  start: SQL = sql`${events.startTimeMs}`,
): SQL | undefined {
  return and(gte(start, startTimeMs), or(gt(start, startTimeMs), lt(events.id, id)));
}

/** The events after a position. @returns undefined (no condition) without a position. */
export function isAfter(
  position: EventCursor | undefined,
  start: SQL = sql`${events.startTimeMs}`,
): SQL | undefined {
  if (position === undefined) return undefined;
  const { startTimeMs, id } = position;
  // The first condition is a range of the index. Without it Postgres would read all earlier pages again.
  return and(lte(start, startTimeMs), or(lt(start, startTimeMs), gt(events.id, id)));
}

/** The position just before all events with this start time. */
export function beginningOf(startTimeMs: number): EventCursor {
  return { startTimeMs, id: '00000000-0000-0000-0000-000000000000' };
}
