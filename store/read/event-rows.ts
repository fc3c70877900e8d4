import type { GetColumnData } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Database } from '../db/database.ts';
import type { events } from '../db/schema.ts';
import type { EventFilter } from './event-filter.ts';
import type { ListLimits } from './limits.ts';

/** The columns of `events` to read. They always include the position of the event. */
export type EventColumns = Record<string, PgColumn> & {
  id: typeof events.id;
  startTimeMs: typeof events.startTimeMs;
};

export type EventRow<Columns extends EventColumns> = {
  [Name in keyof Columns]: GetColumnData<Columns[Name]>;
} & { id: string; startTimeMs: number };

/**
 * The rows of a statement that selected these columns. Drizzle derives the type of a row from its selection,
 * which it cannot for columns that a caller chose: they are passed to it as a wider type.
 */
export function rowsOf<Columns extends EventColumns>(rows: readonly object[]): EventRow<Columns>[] {
  return rows as EventRow<Columns>[];
}

/** Where and how a list reads its events. */
export interface EventSource<Columns extends EventColumns> {
  readonly database: Database;
  readonly spaceId: string;
  readonly columns: Columns;
  readonly filter: EventFilter;
  readonly limits: ListLimits;
}

/** Events in list order. */
export interface FoundEvents<Row> {
  readonly rows: Row[];
  /** The position up to which `rows` has all matching events; undefined when no event follows. */
  readonly end: { startTimeMs: number; id: string } | undefined;
}
