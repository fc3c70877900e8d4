import { setTimeout as sleep } from 'node:timers/promises';
import { someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import type { RunningWeir } from '../../harness/system/weir.ts';
import { changeSpace, createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { ensurePartitions } from '../../store/db/partitions.ts';
import { type TimeRange, weekOf } from '../../store/db/weeks.ts';
import { expireData } from '../../store/retention/expire.ts';
import { RetentionClock } from '../../store/retention/retention-clock.ts';
import type { Figures } from './measures.ts';

/**
 * The concurrent statements that store events, like a writer's, and the pause after each: the machine is not
 * idle.
 */
const concurrency = 3;
const pauseMs = 20;

const quietMs = 10_000;

/** One in this many events of the second measurement stays: those of a space with unlimited retention. */
const keptOneIn = 10;

export interface RetentionOptions {
  /** Events of the partition that is dropped. A tenth as many are deleted in batches. */
  events: number;
  log: (text: string) => void;
}

/**
 * Measures how long it takes to drop a week of expired events, and to delete most events of a week in
 * batches, while a writer stores others. The expired events are copies of those that are stored.
 */
export async function measureRetention(
  weir: RunningWeir,
  { events, log }: RetentionOptions,
): Promise<Figures> {
  await using sql = openPostgres(weir.connection.databaseUrl, {
    applicationName: 'weir-harness',
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  const [expiring, keeping] = [
    await createSpace(database, 'expiring'),
    await createSpace(database, 'keeping'),
  ];
  // A week apart, because a retention that expires all of the first week also expires the first days after
  // it.
  const [dropped, mixed] = [weekOf(Date.now(), -8), weekOf(Date.now(), -6)];
  for (const { fromMs } of [dropped, mixed]) await ensurePartitions(database, fromMs);
  log(`copying ${events} events …`);
  const copied = await copyEvents(weir, { events, week: dropped, spaceIds: [expiring.id] });
  const spaceIds = Array.from({ length: keptOneIn }, (_, i) => (i === 0 ? keeping.id : expiring.id));
  const mixedEvents = await copyEvents(weir, { events: events / 10, week: mixed, spaceIds });
  await weir.sql`ANALYZE events`;
  await weir.sql`CHECKPOINT`;

  log('measuring …');
  const quiet = await whileWriting(weir, keeping.id, () => sleep(quietMs));
  const days = (week: TimeRange) => Math.floor((Date.now() - week.toMs) / 86_400_000) - 1;
  await changeSpace(database, expiring.id, { retentionDays: days(dropped) });
  const drop = await whileWriting(weir, keeping.id, () => expireUntilGone(weir, database, dropped));
  const before = await bytesOf(weir, mixed);
  await changeSpace(database, expiring.id, { retentionDays: days(mixed) });
  const batches = await whileWriting(weir, keeping.id, () =>
    expireUntilGone(weir, database, mixed, expiring.id),
  );
  return {
    quietWriteMaxMs: quiet.slowestMs,
    droppedEvents: copied,
    dropSeconds: drop.seconds,
    dropWriteMaxMs: drop.slowestMs,
    batchPerSecond: (mixedEvents * (1 - 1 / keptOneIn)) / batches.seconds,
    batchWriteMaxMs: batches.slowestMs,
    reclaimedShare: 1 - (await bytesOf(weir, mixed)) / before,
  };
}

interface CopyOptions {
  events: number;
  week: TimeRange;
  /** The segments belong to these spaces in turn. */
  spaceIds: readonly string[];
}

/**
 * Copies the stored events repeatedly, with ids of a week.
 * @returns the number of copies, at least `events`.
 */
async function copyEvents(
  { sql, connection }: RunningWeir,
  { events, week, spaceIds }: CopyOptions,
): Promise<number> {
  const [stored] = await sql<{ events: number }[]>`
    SELECT count(*)::float8 AS events FROM events WHERE space_id = ${connection.spaceId}`;
  const copies = Math.ceil(events / Math.max(1, stored?.events ?? 0));
  const [columns, segmentColumns] = [await otherColumns(sql, 'events'), await otherColumns(sql, 'segments')];
  for (let copy = 0; copy < copies; copy++) {
    const atMs = Math.floor(week.fromMs + ((week.toMs - week.fromMs) * copy) / copies);
    const moved = (column: string) => `(lpad(to_hex(${atMs}), 12, '0')
      || substr(replace(${column}::text, '-', ''), 13, 16) || lpad(to_hex(${copy}), 4, '0'))::uuid`;
    const owner = (column: string) =>
      `(ARRAY['${spaceIds.join("','")}']::uuid[])[1 + abs(hashtext(${column}::text)) % ${spaceIds.length}]`;
    const receivedAt = `to_timestamp(${atMs} / 1000.0)`;
    await sql.unsafe(`INSERT INTO segments (space_id, id, received_at, ${segmentColumns})
      SELECT ${owner('id')}, ${moved('id')}, ${receivedAt}, ${segmentColumns}
      FROM segments WHERE space_id = '${connection.spaceId}'`);
    await sql.unsafe(`INSERT INTO events (space_id, id, segment_id, received_at, ${columns})
      SELECT ${owner('segment_id')}, gen_random_uuid(), ${moved('segment_id')}, ${receivedAt}, ${columns}
      FROM events WHERE space_id = '${connection.spaceId}' ORDER BY segment_id, segment_index`);
  }
  return copies * (stored?.events ?? 0);
}

/** The columns of a table that are copied unchanged, as SQL. */
async function otherColumns(sql: RunningWeir['sql'], table: string): Promise<string> {
  const rows = await sql<{ name: string }[]>`
    SELECT attname AS name FROM pg_attribute WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped
      AND attname NOT IN ('space_id', 'id', 'segment_id', 'received_at')`;
  return rows.map(({ name }) => `"${name}"`).join();
}

/** Expires data until the week's partition is dropped, or has no rows of the space. */
async function expireUntilGone(
  { sql }: RunningWeir,
  database: Database,
  week: TimeRange,
  spaceId?: string,
): Promise<void> {
  const isGone = async () => {
    const [name] = await findPartitions(sql, week);
    if (name === undefined) return true;
    if (spaceId === undefined) return false;
    const rows = await sql`SELECT FROM ${sql(name)} WHERE space_id = ${spaceId} LIMIT 1`;
    return rows.length === 0;
  };
  do {
    // Undefined while the running writer holds the lock for retention.
    const result = await expireData(database, {
      retentionDaysMax: undefined,
      nowMs: Date.now(),
      clock: new RetentionClock(),
    });
    if (result === undefined) await sleep(10);
  } while (!(await isGone()));
}

async function findPartitions(sql: RunningWeir['sql'], { fromMs }: TimeRange): Promise<string[]> {
  const date = new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '');
  const rows = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relname IN (${`events_${date}`}, ${`segments_${date}`}) ORDER BY relname`;
  return rows.map(({ name }) => name);
}

async function bytesOf({ sql }: RunningWeir, week: TimeRange): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    SELECT sum(pg_total_relation_size(relname::regclass))::float8 AS bytes
    FROM pg_class WHERE relname IN ${sql(await findPartitions(sql, week))}`;
  return row?.bytes ?? Number.NaN;
}

/** Stores events like a writer while `run` runs, and measures the slowest write. */
async function whileWriting(
  { connection }: RunningWeir,
  spaceId: string,
  run: () => Promise<unknown>,
): Promise<{ seconds: number; slowestMs: number }> {
  await using sql = openPostgres(connection.databaseUrl, {
    applicationName: 'weir-harness-writes',
    connectionsMax: concurrency,
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  let slowestMs = 0;
  let isOver = false;
  const write = async (isMeasured: boolean) => {
    const part = partOf(spaceId, someEvents(20));
    const startedMs = performance.now();
    await insertParts(database, [part]);
    if (isMeasured) slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  };
  // Warm-up: connecting and preparing are not measured.
  for (let i = 0; i < 2; i++) await Promise.all(Array.from({ length: concurrency }, () => write(false)));
  const writing = Array.from({ length: concurrency }, async () => {
    for (; !isOver; await sleep(pauseMs)) await write(true);
  });
  const startedMs = performance.now();
  await run();
  const seconds = (performance.now() - startedMs) / 1_000;
  isOver = true;
  await Promise.all(writing);
  return { seconds, slowestMs };
}
