import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { events, segmentAdditions } from '../db/schema.ts';
import { type EventFilter, matchTime, matchValues } from '../read/event-filter.ts';
import type { EventColumns, EventRow } from '../read/event-rows.ts';
import { entriesPerRead, eventsPerRead } from './limits.ts';
import { comparePositions, lastIndex, type TailPosition } from './position.ts';
import { type EntryList, listStoredEntries, type StoredEntry, type TailEdge } from './stored-entries.ts';

/** An event, with its place in the tail and the filters that it matches. */
export interface StoredEvent<Columns extends EventColumns> {
  readonly row: EventRow<Columns>;
  readonly position: TailPosition;
  /** For each filter of the query, in its order, `1` when the event matches it, else `0`. */
  readonly matches: string;
}

export interface StoredQuery<Columns extends EventColumns> {
  readonly columns: Columns;
  readonly after: TailPosition;
  /** Events that match none of them are left out. */
  readonly filters: readonly EventFilter[];
  /** Most events of the page. */
  readonly rowsMax?: number;
}

/** What was stored after a position, in the order of the tail. */
export interface StoredPage<Columns extends EventColumns> {
  readonly events: readonly StoredEvent<Columns>[];
  /** Where the next page begins: everything up to here was examined. */
  readonly end: TailPosition;
  /** Whether the page reaches the edge. */
  readonly isComplete: boolean;
  readonly edge: TailEdge;
}

/**
 * Reads the next events that a space stored after a position, some {@link eventsPerRead} at a time. Pages that follow each
 * other have every event exactly once, however its segment came about: by several requests, redelivered, or in pieces.
 * Events that were deleted meanwhile are not there.
 */
export async function readStoredPage<Columns extends EventColumns>(
  database: Database,
  spaceId: string,
  query: StoredQuery<Columns>,
): Promise<StoredPage<Columns>> {
  const { after, rowsMax = Number.POSITIVE_INFINITY } = query;
  const list = await listStoredEntries(database, spaceId, after);
  const { entries, isComplete } = takeEntries(list);
  const { atSeconds } = list.edge.position;
  const found =
    entries.length === 0 ? [] : await readEntries(database, spaceId, { ...query, entries, atSeconds });
  const last = entries.at(-1);
  const ofEntries =
    isComplete || last === undefined
      ? laterOf(list.edge.position, after)
      : { xid: last.xid, segmentId: last.segmentId, segmentIndex: lastIndex, atSeconds };
  const isCut = found.length >= rowsMax;
  return {
    events: found,
    end: isCut ? (found.at(-1)?.position ?? ofEntries) : ofEntries,
    isComplete: isComplete && !isCut,
    edge: list.edge,
  };
}

function laterOf(a: TailPosition, b: TailPosition): TailPosition {
  return comparePositions(a, b) > 0 ? a : b;
}

/** The first entries, at least one, whose events are read together. */
function takeEntries({ entries }: EntryList): { entries: readonly StoredEntry[]; isComplete: boolean } {
  let events = 0;
  const end = entries.findIndex(({ eventCount }, at) => {
    events += eventCount;
    return at > 0 && events > eventsPerRead;
  });
  const taken = end === -1 ? entries : entries.slice(0, end);
  return { entries: taken, isComplete: end === -1 && entries.length < entriesPerRead };
}

async function readEntries<Columns extends EventColumns>(
  database: Database,
  spaceId: string,
  query: StoredQuery<Columns> & { entries: readonly StoredEntry[]; atSeconds: number },
): Promise<StoredEvent<Columns>[]> {
  const { columns, filters, after, entries, atSeconds, rowsMax } = query;
  const literal = (values: readonly string[]) => `{${values.join(',')}}`;
  const matching = database
    .select({
      ...(columns as EventColumns),
      entrySegment: events.segmentId,
      entryIndex: events.segmentIndex,
      matches: sql<string>`${matchEach(filters)}`.as('matches'),
    })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), eq(events.segmentId, sql`entry.id`), ofEntry(spaceId)))
    // Keeps Postgres from joining in another order (see readCandidates); Drizzle omits a plain 0.
    .offset(sql.placeholder('offset'))
    .as('matching');
  const selected = Object.fromEntries(
    [...Object.keys(columns), 'entrySegment', 'entryIndex', 'matches'].map((name) => [
      name,
      (matching as unknown as Record<string, SQL>)[name] ?? sql`NULL`,
    ]),
  );
  const rows = (await database
    .select({ ...selected, entryXid: sql<string>`entry.xid::text` })
    .from(
      sql`unnest(${literal(entries.map(({ segmentId }) => segmentId))}::uuid[],
        ${literal(entries.map(({ xid }) => xid))}::xid8[]) AS entry(id, xid)`,
    )
    .crossJoinLateral(matching)
    .where(
      and(
        sql`${matching.matches} LIKE '%1%'`,
        sql`(entry.xid <> ${after.xid}::xid8 OR entry.id <> ${after.segmentId}::uuid OR ${matching.entryIndex} > ${after.segmentIndex})`,
      ),
    )
    .orderBy(sql`entry.xid`, sql`entry.id`, sql`${matching.entryIndex}`)
    .limit(rowsMax ?? rowsPerReadMax)
    .execute({ offset: 0 })) as unknown as (EventRow<Columns> & EntryColumns)[];
  return rows.map(
    ({ entryXid: xid, entrySegment: segmentId, entryIndex: segmentIndex, matches, ...row }) => ({
      row: row as unknown as EventRow<Columns>,
      position: { xid, segmentId, segmentIndex, atSeconds },
      matches,
    }),
  );
}

interface EntryColumns {
  entryXid: string;
  entrySegment: string;
  entryIndex: number;
  matches: string;
}

/**
 * The events of the segment that the entry's transaction stored. An addition names its own; all that no addition names came
 * with the segment. One snapshot sees an addition and its events, or neither.
 */
function ofEntry(spaceId: string): SQL {
  const { indexes, storedXid } = segmentAdditions;
  const ofSegment = sql`SELECT FROM ${segmentAdditions} WHERE ${segmentAdditions.segmentId} = entry.id
    AND ${segmentAdditions.spaceId} = ${spaceId}`;
  const isNamed = sql`${events.segmentIndex} = ANY (${indexes})`;
  return sql`CASE WHEN EXISTS (${ofSegment} AND ${storedXid} = entry.xid)
    THEN EXISTS (${ofSegment} AND ${storedXid} = entry.xid AND ${isNamed})
    ELSE NOT EXISTS (${ofSegment} AND ${isNamed}) END`;
}

/** A digit for each filter. `concat` takes a hundred arguments. */
function matchEach(filters: readonly EventFilter[]): SQL {
  const digits = filters.map((filter) => {
    const condition = and(matchTime(filter), matchValues(filter));
    return condition === undefined ? sql`'1'` : sql`CASE WHEN ${condition} THEN '1' ELSE '0' END`;
  });
  const chunks = Array.from(
    { length: Math.ceil(digits.length / concatMax) },
    (_, at) => sql`concat(${sql.join(digits.slice(at * concatMax, (at + 1) * concatMax), sql`, `)})`,
  );
  return sql.join(chunks, sql` || `);
}

const concatMax = 100;

/** More than the events of one read: a segment has at most those of one message. */
const rowsPerReadMax = 2 ** 31 - 1;
