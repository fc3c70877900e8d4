import type { GetColumnData } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Database } from '../db/database.ts';
import type { events } from '../db/schema.ts';
import type { EventFilter } from './event-filter.ts';
import type { ListLimits } from './limits.ts';

/** The columns of `events` that a reader wants of each event. The position of an event is always among them. */
export type EventColumns = Record<string, PgColumn> & {
  id: typeof events.id;
  startTimeMs: typeof events.startTimeMs;
};

/** An event with these columns. */
export type EventRow<Columns extends EventColumns> = {
  [Name in keyof Columns]: GetColumnData<Columns[Name]>;
} & { id: string; startTimeMs: number };

/** What a list is read from. */
export interface EventSource<Columns extends EventColumns> {
  readonly database: Database;
  readonly spaceId: string;
  readonly columns: Columns;
  readonly filter: EventFilter;
  readonly limits: ListLimits;
}

/** Events in the order of the list. */
export interface FoundEvents<Row> {
  readonly rows: Row[];
  /** The position up to which all matching events are in `rows`; undefined when no event is left after them. */
  readonly end: { startTimeMs: number; id: string } | undefined;
}
