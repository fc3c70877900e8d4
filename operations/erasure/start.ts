import type { NatsConnection } from '@nats-io/transport-node';
import { and, eq, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../lib/db/database.ts';
import { commitCounters, segments, spaceCommits } from '../../lib/db/schema.ts';
import { readWatermarks, type Watermark } from '../../lib/queue/watermark.ts';

/**
 * The start of an erasure, in the terms of the database and of the queue: what was stored then, and how far each stream had got.
 * Both together are all that was accepted before. No clock is compared: that of an ingest may be wrong.
 */
export interface ErasureStart {
  /** By the clock of Postgres, for the receipt. */
  readonly atMs: number;
  /** The number of the last commit of the space then (ADR 0020). */
  readonly commitNumber: number;
  readonly watermarks: readonly Watermark[];
}

export async function readStart(
  database: Database,
  connection: NatsConnection,
  spaceId: string,
): Promise<ErasureStart> {
  const { lastNumber } = commitCounters;
  const [row] = await database.execute<{ atMs: number; commitNumber: number }>(sql`
    SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "atMs", coalesce(
      (SELECT ${lastNumber} FROM ${commitCounters} WHERE ${commitCounters.spaceId} = ${spaceId}), 0)::float8 AS "commitNumber"`);
  if (row === undefined) throw new Error('SELECT returned no row');
  const { atMs, commitNumber } = row;
  // After the number: what was accepted before and is stored later has a sequence up to these.
  return { atMs: Math.floor(atMs), commitNumber, watermarks: await readWatermarks(connection) };
}

/** The condition on `segments`: it was stored at the start, or its message was in the queue. */
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

/** The same of an entry of the quarantine. @param quarantinedAt by the clock of Postgres, as the start. */
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
