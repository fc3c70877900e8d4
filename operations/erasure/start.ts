import type { NatsConnection } from '@nats-io/transport-node';
import { and, eq, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../lib/db/database.ts';
import { segments } from '../../lib/db/schema.ts';
import { readWatermarks, type Watermark } from '../../lib/queue/watermark.ts';

/**
 * The start of an erasure, in the terms of the database and of the queue: what was stored then, and how far each stream had got.
 * Both together are all that was accepted before. No clock is compared: that of an ingest may be wrong.
 */
export interface ErasureStart {
  /** By the clock of Postgres, for the receipt. */
  readonly atMs: number;
  /** The transactions that were complete then, as a pg_snapshot. */
  readonly snapshot: string;
  readonly watermarks: readonly Watermark[];
}

export async function readStart(database: Database, connection: NatsConnection): Promise<ErasureStart> {
  const [row] = await database.execute<{ atMs: number; snapshot: string }>(sql`
    SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "atMs", pg_current_snapshot()::text AS snapshot`);
  if (row === undefined) throw new Error('SELECT returned no row');
  // After the snapshot: what was accepted before it and is not in it has a sequence up to these.
  return { atMs: Math.floor(row.atMs), snapshot: row.snapshot, watermarks: await readWatermarks(connection) };
}

/** The condition on `segments`: it was stored at the start, or its message was in the queue. */
export function wasAcceptedBefore({ snapshot, watermarks }: ErasureStart): SQL | undefined {
  return or(
    sql`pg_visible_in_snapshot(${segments.storedXid}, ${snapshot}::pg_snapshot)`,
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
