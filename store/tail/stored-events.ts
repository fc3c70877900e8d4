import { and, eq, type GetColumnData, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Database } from '../db/database.ts';
import { events } from '../db/schema.ts';
import { opaqueArray } from '../db/statement.ts';
import { eventsPerRead, segmentsPerRead } from './limits.ts';
import { lastIndex, type TailPosition } from './position.ts';
import { listStoredSegments, type StoredSegment } from './space-commits.ts';

/** Columns of `events`, or named expressions over them. */
export type StoredColumns = Record<string, PgColumn | SQL.Aliased>;

export type StoredRow<Columns extends StoredColumns> = {
  [Name in keyof Columns]: Columns[Name] extends PgColumn
    ? GetColumnData<Columns[Name]>
    : Columns[Name] extends SQL.Aliased<infer Value>
      ? Value
      : never;
};

export interface StoredEvent<Columns extends StoredColumns> {
  readonly row: StoredRow<Columns>;
  readonly position: TailPosition;
}

/** Events stored after a position, in storage order. */
export interface StoredPage<Columns extends StoredColumns> {
  readonly events: readonly StoredEvent<Columns>[];
  /** The start of the next page: everything up to here was read. */
  readonly end: TailPosition;
  readonly isComplete: boolean;
}

export interface StoredQuery<Columns extends StoredColumns> {
  readonly columns: Columns;
  readonly after: TailPosition;
  readonly rowsMax?: number;
}

/**
 * The next events of a space, at most {@link eventsPerRead} by default. Consecutive pages have every event
 * once, also after redeliveries, retries and slicing. Events deleted meanwhile are missing.
 * @returns undefined for an unknown position: see listStoredSegments.
 */
export async function readStoredPage<Columns extends StoredColumns>(
  database: Database,
  spaceId: string,
  { columns, after, rowsMax = eventsPerRead }: StoredQuery<Columns>,
): Promise<StoredPage<Columns> | undefined> {
  const listed = await listStoredSegments(database, spaceId, { after });
  if (listed === undefined) return undefined;
  const isFirstRead = after.number > 0 && after.segmentIndex === lastIndex;
  const unread = isFirstRead ? listed.slice(1) : listed;
  const taken = takeSegments(unread, rowsMax);
  const last = taken.at(-1);
  if (last === undefined) return { events: [], end: after, isComplete: true };
  const found = await readSegments(database, spaceId, { columns, after, rowsMax, segments: taken });
  const cut = found.length === rowsMax ? found.at(-1)?.position : undefined;
  return {
    events: found,
    end: cut ?? { number: last.number, segmentId: last.segmentId, segmentIndex: lastIndex },
    isComplete: cut === undefined && taken.length === unread.length && listed.length < segmentsPerRead,
  };
}

/** The first segments, at least one, with about `eventsMax` events or fewer. */
function takeSegments(segments: readonly StoredSegment[], eventsMax: number): readonly StoredSegment[] {
  let sum = 0;
  const end = segments.findIndex(({ eventCount }, at) => {
    sum += eventCount;
    return at > 0 && sum > eventsMax;
  });
  return end === -1 ? segments : segments.slice(0, end);
}

async function readSegments<Columns extends StoredColumns>(
  database: Database,
  spaceId: string,
  {
    columns,
    after,
    rowsMax,
    segments,
  }: Required<StoredQuery<Columns>> & {
    segments: readonly StoredSegment[];
  },
): Promise<StoredEvent<Columns>[]> {
  const own = database
    .select({ ...(columns as StoredColumns), ofSegment: events.segmentId, atIndex: events.segmentIndex })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), eq(events.segmentId, sql`listed.id`)))
    // Keeps Postgres from reordering the joins (see readCandidates); Drizzle omits a plain 0.
    .offset(sql.placeholder('offset'))
    .as('own');
  // Drizzle's subquery type does not follow a record of columns with unknown names.
  const fields = own as unknown as Record<string, PgColumn>;
  const selected = Object.fromEntries(
    [...Object.keys(columns), 'ofSegment', 'atIndex'].map((name) => [name, fields[name] ?? sql`NULL`]),
  );
  const number = sql<number>`listed.number::float8`;
  const order = [sql`listed.number`, sql`listed.id`, sql`${own.atIndex}`];
  const rows = (await database
    .select({ ...selected, ofCommit: number })
    .from(
      sql`unnest(${opaqueArray(`{${segments.map((one) => one.number).join()}}`, 'bigint')},
        ${opaqueArray(`{${segments.map(({ segmentId }) => segmentId).join()}}`, 'uuid')}) AS listed(number, id)`,
    )
    .crossJoinLateral(own)
    .where(
      sql`(${sql.join(order, sql`, `)}) > (${after.number}, ${after.segmentId}::uuid, ${after.segmentIndex})`,
    )
    .orderBy(...order)
    .limit(rowsMax)
    .prepare('stored_events')
    .execute({ offset: 0 })) as unknown as (StoredRow<Columns> & RowPosition)[];
  return rows.map(({ ofCommit, ofSegment, atIndex, ...row }) => ({
    row: row as unknown as StoredRow<Columns>,
    position: { number: ofCommit, segmentId: ofSegment, segmentIndex: atIndex },
  }));
}

interface RowPosition {
  ofCommit: number;
  ofSegment: string;
  atIndex: number;
}
