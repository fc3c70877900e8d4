import type { NatsConnection } from '@nats-io/transport-node';
import { and, eq, lte, or, type SQL, sql } from 'drizzle-orm';
import { readServerClock } from '../../store/db/clock.ts';
import { type Database, readOne } from '../../store/db/database.ts';
import { commitCounters, segments, spaceCommits } from '../../store/db/schema.ts';
import { readWatermarks, type Watermark } from '../../store/queue-state/watermark.ts';

/** Positions in the database and each stream that cover everything accepted before, whatever clocks say. */
export interface ErasureStart {
  /** The clock of Postgres, for the receipt. */
  readonly atMs: number;
  /** The number of the last commit of the space at that time (ADR 0020). */
  readonly commitNumber: number;
  readonly watermarks: readonly Watermark[];
}

export async function readStart(
  database: Database,
  connection: NatsConnection,
  spaceId: string,
): Promise<ErasureStart> {
  const { lastNumber } = commitCounters;
  const { commitNumber } = await readOne<{ commitNumber: number }>(
    database,
    sql`
    SELECT coalesce(
      (SELECT ${lastNumber} FROM ${commitCounters} WHERE ${commitCounters.spaceId} = ${spaceId}), 0)::float8 AS "commitNumber"`,
  );
  // Read after the number: what is stored after it was queued up to these watermarks.
  const watermarks = await readWatermarks(connection);
  // Read last: an event accepted between number and watermark is erased, and must be from before the start.
  const atMs = await readServerClock(database);
  return { atMs, commitNumber, watermarks };
}

/** The condition on `segments`: the segment was stored, or its message queued, at the start. */
export function wasAcceptedBefore(
  spaceId: string,
  { commitNumber, watermarks }: ErasureStart,
): SQL | undefined {
  return or(
    sql`${segments.id} NOT IN (SELECT unnest(${spaceCommits.segmentIds}) FROM ${spaceCommits}
      WHERE ${spaceCommits.spaceId} = ${spaceId} AND ${spaceCommits.number} > ${commitNumber})`,
    ...watermarks.map(({ stream, sequence }) =>
      and(eq(segments.queueStream, stream), lte(segments.queueSequence, sequence)),
    ),
  );
}

/** Whether a quarantine entry is older than the start. @param entry its time is Postgres', like `atMs`. */
export function wasEntryAcceptedBefore(
  { atMs, watermarks }: ErasureStart,
  entry: { quarantinedAt: Date; queueStream: string; queueSequence: bigint },
): boolean {
  return (
    entry.quarantinedAt.getTime() <= atMs ||
    watermarks.some(
      ({ stream, sequence }) => stream === entry.queueStream && entry.queueSequence <= BigInt(sequence),
    )
  );
}
