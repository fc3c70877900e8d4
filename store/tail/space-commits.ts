import { and, asc, desc, eq, gt, gte, inArray, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { commitCounters, erasures, eventChanges, spaceCommits } from '../db/schema.ts';
import { commitDays, commitsPerSpaceMax, lagEventsMax, segmentsPerRead } from './limits.ts';
import { firstPosition, lastIndex, type TailPosition } from './position.ts';

export interface StoredSegment {
  readonly number: number;
  readonly segmentId: string;
  /** Average of the commit's segments. */
  readonly eventCount: number;
}

/**
 * Lists at most {@link segmentsPerRead} segments stored after a position, in storage order. The first is the
 * position's own, which may have further events. Numbers are assigned in the order of COMMIT (ADR 0020), so
 * no segment can appear later between listed ones.
 * @returns undefined for an unknown position: its commit was deleted as too old, or a backup restored.
 */
export async function listStoredSegments(
  database: Database,
  spaceId: string,
  { after, segmentsMax = segmentsPerRead }: { after: TailPosition; segmentsMax?: number },
): Promise<StoredSegment[] | undefined> {
  const { number, segmentIds } = spaceCommits;
  const segmentId = sql<string>`segment.id`;
  const eventCount = sql<number>`${spaceCommits.eventCount}::float8 / cardinality(${segmentIds})`;
  const listed = await database
    .select({ number, segmentId, eventCount })
    .from(spaceCommits)
    .crossJoinLateral(sql`unnest(${segmentIds}) AS segment(id)`)
    .where(
      and(
        eq(spaceCommits.spaceId, spaceId),
        gte(number, after.number),
        or(gt(number, after.number), gte(segmentId, sql`${after.segmentId}::uuid`)),
      ),
    )
    .orderBy(asc(number), asc(segmentId))
    .limit(segmentsMax);
  const [first] = listed;
  const isBeginning = after.number === firstPosition.number;
  const isKnown = isBeginning
    ? first === undefined || first.number === firstPosition.number + 1
    : first?.number === after.number && first.segmentId === after.segmentId;
  return isKnown ? listed : undefined;
}

/** Whether a space has the commit and segment of a position, and all later commits. */
export async function isKnownPosition(
  database: Database,
  spaceId: string,
  position: TailPosition,
): Promise<boolean> {
  return (await listStoredSegments(database, spaceId, { after: position, segmentsMax: 1 })) !== undefined;
}

/** The position after the last stored event of a space, where a tail of new events begins. */
export async function readEdge(database: Database, spaceId: string): Promise<TailPosition> {
  const { number, segmentIds } = spaceCommits;
  const [last] = await database
    .select({ number, segmentId: sql<string>`${segmentIds}[cardinality(${segmentIds})]` })
    .from(spaceCommits)
    .where(eq(spaceCommits.spaceId, spaceId))
    .orderBy(desc(number))
    .limit(1);
  return last === undefined ? firstPosition : { ...last, segmentIndex: lastIndex };
}

/** Each space's last commit and last change, as one text. */
export async function readLastNumbers(database: Database, spaceIds: string[]): Promise<Map<string, string>> {
  const { spaceId, lastNumber, lastChange } = commitCounters;
  const rows = await database
    .select({ spaceId, lastNumber, lastChange })
    .from(commitCounters)
    .where(inArray(spaceId, spaceIds));
  return new Map(rows.map((row) => [row.spaceId, `${row.lastNumber} ${row.lastChange}`]));
}

/** What a tail has not read yet. */
export interface TailLag {
  /** Events stored by later commits, whether or not they match a filter. */
  readonly events: number;
  /** The count stopped at its limit. */
  readonly isAtLeast: boolean;
}

export async function readLag(database: Database, spaceId: string, after: TailPosition): Promise<TailLag> {
  const later = database
    .select({ eventCount: spaceCommits.eventCount })
    .from(spaceCommits)
    .where(and(eq(spaceCommits.spaceId, spaceId), gt(spaceCommits.number, after.number)))
    .limit(lagEventsMax)
    .as('later');
  const [row] = await database
    .select({
      events: sql<number>`coalesce(sum(${later.eventCount}), 0)::float8`,
      commits: sql<number>`count(*)::integer`,
    })
    .from(later);
  if (row === undefined) throw new Error('SELECT returned no row');
  return { events: row.events, isAtLeast: row.commits === lagEventsMax };
}

/**
 * Deletes what is too old or too many, but neither a space's last row, the position of up-to-date streams,
 * nor rows since the start of a running erasure, for which they say which segments are newer
 * (operations/erasure/start.ts).
 */
export async function deleteOldCommits(database: Database): Promise<void> {
  const { spaceId, number, storedAt } = spaceCommits;
  const old = lt(storedAt, sql`now() - make_interval(days => ${commitDays})`);
  const isBefore = (end: SQL) =>
    sql`EXISTS (SELECT 1 FROM ${commitCounters} WHERE ${commitCounters.spaceId} = ${spaceId} AND ${number} < ${end})`;
  await database.delete(spaceCommits).where(and(old, isBefore(sql`${commitCounters.lastNumber}`)));
  const erasingSince = await readErasureStart(database);
  const tooMany = isBefore(sql`${commitCounters.lastNumber} - ${commitsPerSpaceMax}`);
  await database.delete(spaceCommits).where(and(tooMany, erasingSince && lt(storedAt, erasingSince)));
  await database
    .delete(eventChanges)
    .where(lt(eventChanges.changedAt, sql`now() - make_interval(days => ${commitDays})`));
}

/** When the oldest erasure that is not completed began, if that was in the last {@link commitDays}. */
async function readErasureStart(database: Database): Promise<Date | undefined> {
  const { startedAt, completedAt } = erasures;
  // A commit has its statement's start: the hour is for statements that ran when the erasure began.
  const [row] = await database
    .select({ since: sql`min(${startedAt}) - interval '1 hour'`.mapWith(startedAt) })
    .from(erasures)
    .where(and(isNull(completedAt), gt(startedAt, sql`now() - make_interval(days => ${commitDays})`)));
  return row?.since ?? undefined;
}
