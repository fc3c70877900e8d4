import { type SQL, sql } from 'drizzle-orm';
import type { Database } from './database.ts';
import { events, segments } from './schema.ts';
import { nameOf } from './statement.ts';

/** An arbitrary number, unlikely to be an advisory lock of another application. */
const buildLock = 7_394_211;

interface InitialIndex {
  /** The index of the partitioned table. */
  readonly parent: string;
  readonly partition: string;
  /** What it is on, for CREATE INDEX. */
  readonly definition: SQL;
}

/**
 * The indexes that the first partitions of a migrated database lack and need. They need none of the others of schema.ts:
 * their primary key finds an id, and their own index on start times also orders by id.
 */
const initialIndexes: readonly InitialIndex[] = [
  {
    parent: 'events_by_segment',
    partition: 'events_initial',
    definition: sql`USING btree (${nameOf(events.segmentId)})`,
  },
  {
    parent: 'segments_by_term',
    partition: 'segments_initial',
    definition: sql`USING gin (${nameOf(segments.terms)}) WITH (gin_pending_list_limit=256)`,
  },
  {
    parent: 'segments_by_start_time',
    partition: 'segments_initial',
    definition: sql`USING btree (${nameOf(segments.spaceId)}, ${nameOf(segments.maxStartMs)})`,
  },
  {
    parent: 'segments_by_transaction',
    partition: 'segments_initial',
    definition: sql`USING btree (${nameOf(segments.spaceId)}, ${nameOf(segments.storedXid)})`,
  },
  {
    parent: 'segments_without_terms',
    partition: 'segments_initial',
    definition: sql`USING btree (${nameOf(segments.spaceId)}) WHERE ${nameOf(segments.terms)} IS NULL`,
  },
];

/**
 * Builds the indexes that the first partitions lack, while they are written and read. An index whose build was interrupted
 * is dropped and built again. Does nothing while another process builds.
 *
 * @param database of one connection without a statement timeout: a build takes minutes on a large table.
 */
export async function buildInitialIndexes(database: Database): Promise<void> {
  const [lock] = await database.execute<{ isOurs: boolean }>(
    sql`SELECT pg_try_advisory_lock(${buildLock}) AS "isOurs"`,
  );
  if (lock?.isOurs !== true) return;
  try {
    for (const index of initialIndexes) await buildIndex(database, index);
  } finally {
    await database.execute(sql`SELECT pg_advisory_unlock(${buildLock})`);
  }
}

async function buildIndex(
  database: Database,
  { parent, partition, definition }: InitialIndex,
): Promise<void> {
  const child = `${parent.replace(/^[a-z]+/, '$&_initial')}`;
  const [found] = await database.execute<{
    hasPartition: boolean;
    isValid: boolean | null;
    isAttached: boolean;
  }>(sql`
    SELECT to_regclass(${partition}) IS NOT NULL AS "hasPartition",
      (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(${child})) AS "isValid",
      EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(${child})) AS "isAttached"`);
  if (found?.hasPartition !== true || found.isAttached) return;
  const [childName, partitionName] = [sql.identifier(child), sql.identifier(partition)];
  if (found.isValid === false) await database.execute(sql`DROP INDEX CONCURRENTLY ${childName}`);
  if (found.isValid !== true)
    await database.execute(sql`CREATE INDEX CONCURRENTLY ${childName} ON ${partitionName} ${definition}`);
  await database.execute(sql`ALTER INDEX ${sql.identifier(parent)} ATTACH PARTITION ${childName}`);
}
