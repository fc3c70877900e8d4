import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { segmentAdditions, segments } from '../db/schema.ts';
import { nameOf } from '../db/statement.ts';
import { boundOf } from '../db/weeks.ts';
import { entriesPerRead, lagSegmentsMax, tailSegmentDays } from './limits.ts';
import { beginningOf, lastIndex, type TailPosition } from './position.ts';

/** The events of one segment that one transaction stored. */
export interface StoredEntry {
  readonly xid: string;
  readonly segmentId: string;
  /** How many events the segment has, of all transactions: at least as many as the entry has. */
  readonly eventCount: number;
}

/** How far a tail can be read at one moment. */
export interface TailEdge {
  /** Every transaction before this one has ended: what a tail reads up to here is final. */
  readonly position: TailPosition;
  /** Whether a transaction has stored events already that come after the edge: an older one is still running. */
  readonly isHeldBack: boolean;
}

export interface EntryList {
  /** In the order of the tail. */
  readonly entries: readonly StoredEntry[];
  readonly edge: TailEdge;
}

/**
 * Lists what a space stored after a position, up to the edge, at most {@link entriesPerRead} entries.
 *
 * What is below the edge is final: no transaction that is older can still commit. So reading in the order of transactions up
 * to there never skips a late commit (ADR 0020). One statement, so one snapshot.
 */
export async function listStoredEntries(
  database: Database,
  spaceId: string,
  after: TailPosition,
): Promise<EntryList> {
  const rows = await database.execute<{
    xid: string | null;
    segmentId: string | null;
    eventCount: number | null;
    edge: string;
    atSeconds: number;
    isHeldBack: boolean;
  }>(sql`
    WITH ${edgeTable}, entries AS (
      SELECT * FROM (${entriesFrom(spaceId, after)} ORDER BY xid, "segmentId" LIMIT ${entriesPerRead}) AS listed
    )
    SELECT entries.xid::text, entries."segmentId", entries."eventCount", ${edgeXid}::text AS edge,
      floor(extract(epoch FROM now()))::float8 AS "atSeconds",
      EXISTS (
        SELECT FROM ${segments} WHERE ${segments.spaceId} = ${spaceId}
          AND ${segments.id} >= ${oldestSegment(after)}::uuid AND ${segments.storedXid} >= ${edgeXid}
      ) AS "isHeldBack"
    FROM (SELECT) AS always LEFT JOIN entries ON true
    ORDER BY entries.xid, entries."segmentId"`);
  const [first] = rows;
  if (first === undefined) throw new Error('the statement returned no row');
  const entries = rows.flatMap((row) =>
    row.xid === null || row.segmentId === null
      ? []
      : [{ xid: row.xid, segmentId: row.segmentId, eventCount: row.eventCount ?? 0 }],
  );
  const edge = { position: beginningOf(first.edge, first.atSeconds), isHeldBack: first.isHeldBack };
  return { entries, edge };
}

/** The edge alone: where a tail of what is stored from now on begins. */
export async function readEdge(database: Database): Promise<TailPosition> {
  const [row] = await database.execute<{ edge: string; atSeconds: number }>(
    sql`WITH ${edgeTable} SELECT ${edgeXid}::text AS edge, floor(extract(epoch FROM now()))::float8 AS "atSeconds"`,
  );
  if (row === undefined) throw new Error('SELECT returned no row');
  return beginningOf(row.edge, row.atSeconds);
}

/** How much a tail has not read yet. */
export interface TailLag {
  /** Events that were stored after the position, whatever their values. */
  readonly events: number;
  /** Whether there are more: not all of them were counted. */
  readonly isAtLeast: boolean;
  readonly edge: TailPosition;
}

export async function readLag(database: Database, spaceId: string, after: TailPosition): Promise<TailLag> {
  const [row] = await database.execute<{
    events: number;
    entries: number;
    edge: string;
    atSeconds: number;
  }>(sql`
    WITH ${edgeTable}
    SELECT coalesce(sum("eventCount"), 0)::float8 AS events, count(*)::integer AS entries, ${edgeXid}::text AS edge,
      floor(extract(epoch FROM now()))::float8 AS "atSeconds"
    FROM (${entriesFrom(spaceId, after)} LIMIT ${lagSegmentsMax}) AS listed`);
  if (row === undefined) throw new Error('SELECT returned no row');
  const { events, entries, edge, atSeconds } = row;
  return { events, isAtLeast: entries === lagSegmentsMax, edge: beginningOf(edge, atSeconds) };
}

/**
 * The oldest transaction of this database that is running, or the next one: what is below it is final. `pg_snapshot_xmin` is
 * one for all databases of the server: a long transaction of another one, a backup for instance, would hold all tails back.
 * A transaction without a process, a prepared one, counts as ours.
 */
const edgeTable = sql`edge AS MATERIALIZED (
      SELECT coalesce(
        (SELECT min(running) FROM pg_snapshot_xip(pg_current_snapshot()) AS running
          WHERE running::xid NOT IN (
            SELECT backend_xid FROM pg_stat_activity WHERE datname <> current_database() AND backend_xid IS NOT NULL
          )),
        pg_snapshot_xmax(pg_current_snapshot())
      ) AS xid
    )`;
const edgeXid = sql`(SELECT xid FROM edge)`;

/** Segments by their transaction, and the additions. A segment whose events were all noted apart is listed once. */
function entriesFrom(spaceId: string, after: TailPosition): SQL {
  const { xid, segmentId, segmentIndex } = after;
  const isLater = sql.raw(segmentIndex === lastIndex ? '>' : '>=');
  const range = (stored: SQL, segment: SQL) => sql`${stored} >= ${xid}::xid8 AND ${stored} < ${edgeXid}
    AND (${stored} > ${xid}::xid8 OR ${segment} ${isLater} ${segmentId}::uuid)`;
  const { indexes } = segmentAdditions;
  return sql`
    SELECT ${segments.storedXid} AS xid, ${segments.id} AS "segmentId", ${segments.eventCount} AS "eventCount"
    FROM ${segments}
    WHERE ${segments.spaceId} = ${spaceId} AND ${segments.id} >= ${oldestSegment(after)}::uuid
      AND ${range(sql`${segments.storedXid}`, sql`${segments.id}`)}
      AND NOT EXISTS (
        SELECT FROM ${segmentAdditions} WHERE ${segmentAdditions.segmentId} = ${segments.id}
          AND ${segmentAdditions.spaceId} = ${spaceId} AND ${segmentAdditions.storedXid} = ${segments.storedXid}
      )
    UNION ALL
    SELECT ${nameOf(segmentAdditions.storedXid)}, ${nameOf(segmentAdditions.segmentId)}, cardinality(${nameOf(indexes)})
    FROM ${segmentAdditions}
    WHERE ${segmentAdditions.spaceId} = ${spaceId} 
      AND ${range(sql`${segmentAdditions.storedXid}`, sql`${segmentAdditions.segmentId}`)}`;
}

/** Older segments are noted apart when they are stored. Weekly partitions below are not read. */
function oldestSegment({ atSeconds }: TailPosition): string {
  return boundOf(Math.max(0, (atSeconds - tailSegmentDays * 86_400) * 1_000));
}
