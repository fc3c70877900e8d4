import { setTimeout as sleep } from 'node:timers/promises';
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import { openPostgres, type Sql } from './connect.ts';
import { type Database, openDatabase } from './database.ts';
import { eventIds, events, ledgerFills } from './schema.ts';
import { nameOf, namesOf } from './statement.ts';

/**
 * Fills the ledger of ids with those of events that were stored before there was one. Until that is done no writer stores
 * anything: an event that is sent again would be stored again.
 */

/** Ids copied with one statement: some tenths of a second. */
const idsPerStatement = 20_000;

/** How often a writer looks whether the ledger is complete. */
const completionPollMs = 1_000;

export interface FillProgress {
  readonly copied: number;
  /** An estimate of Postgres. */
  readonly total: number;
}

/** Whether the ledger holds the ids of all events that are stored, in a migrated database. */
export async function isLedgerComplete(url: string): Promise<boolean> {
  await using sql = openFillConnection(url);
  return (await findIncomplete(openDatabase(sql))).length === 0;
}

/**
 * Copies the ids that the ledger lacks, in the order of their key, statement by statement. When it was killed it goes on
 * from where it was; run by several processes at once it does no harm. Events may be accepted meanwhile, not stored.
 *
 * @param options `report` is called before each statement. Aborting the signal ends it after the statement under way.
 */
export async function fillLedger(
  url: string,
  { report, signal }: { report: (progress: FillProgress) => void; signal?: AbortSignal },
): Promise<void> {
  await using sql = openFillConnection(url);
  const database = openDatabase(sql);
  for (const fill of await findIncomplete(database)) {
    const total = await estimateRows(database, fill.tableName);
    for (let { copied } = fill, isDone = false; !isDone; ) {
      signal?.throwIfAborted();
      report({ copied, total });
      ({ copied, isDone } = await copyIds(database, fill.tableName));
    }
  }
}

/**
 * Resolves when the ledger is complete. Waits, too, while Postgres is away or not migrated.
 *
 * @param onWait is called once, when there is something to wait for. `error` is why that could not be found out.
 */
export async function untilLedgerComplete(
  database: Database,
  onWait: (error: unknown) => void,
): Promise<void> {
  for (let isWaiting = false; ; isWaiting = true) {
    const incomplete = await findIncomplete(database).catch((error: unknown) => ({ error }));
    if ('length' in incomplete && incomplete.length === 0) return;
    if (!isWaiting) onWait('error' in incomplete ? incomplete.error : undefined);
    await sleep(completionPollMs);
  }
}

function openFillConnection(url: string): Sql & AsyncDisposable {
  return openPostgres(url, { applicationName: 'weir-ledger', connectionsMax: 1, statementTimeoutMs: 0 });
}

function findIncomplete(database: Database) {
  return database
    .select({ tableName: ledgerFills.tableName, copied: ledgerFills.copied })
    .from(ledgerFills)
    .where(isNull(ledgerFills.completedAt));
}

/**
 * Copies the next ids of a table, and then notes how far it came: killed in between, it copies them again, which changes
 * nothing.
 */
async function copyIds(database: Database, tableName: string): Promise<{ copied: number; isDone: boolean }> {
  const key = namesOf([events.spaceId, events.id]);
  const table = sql.identifier(tableName);
  const [fill] = await database.select().from(ledgerFills).where(eq(ledgerFills.tableName, tableName));
  if (fill === undefined) throw new Error(`ledger_fills lost its row of ${tableName}`);
  if (fill.completedAt !== null) return { copied: fill.copied, isDone: true };
  const after =
    fill.lastId === null ? sql`true` : sql`(${key}) > (${fill.lastSpaceId}::uuid, ${fill.lastId}::uuid)`;
  const ids = await database.execute<{ spaceId: string; id: string }>(sql`
    SELECT ${nameOf(events.spaceId)} AS "spaceId", ${nameOf(events.id)} FROM ${table}
    WHERE ${after} ORDER BY ${key} LIMIT ${idsPerStatement}`);
  const last = ids.at(-1);
  if (last === undefined) {
    await noteFill(database, tableName, { completedAt: sql`now()` });
    return { copied: fill.copied, isDone: true };
  }
  const upTo: SQL = sql`(${key}) <= (${last.spaceId}::uuid, ${last.id}::uuid)`;
  await database.execute(sql`
    INSERT INTO ${eventIds} (${namesOf([eventIds.spaceId, eventIds.id])})
    SELECT ${key} FROM ${table} WHERE ${after} AND ${upTo} ORDER BY ${key} ON CONFLICT DO NOTHING`);
  const copied = fill.copied + ids.length;
  await noteFill(database, tableName, { lastSpaceId: last.spaceId, lastId: last.id, copied });
  return { copied, isDone: false };
}

/** Never takes back that a fill is complete: another process may have completed it. */
function noteFill(database: Database, tableName: string, note: PgUpdateSetSource<typeof ledgerFills>) {
  return database
    .update(ledgerFills)
    .set(note)
    .where(and(eq(ledgerFills.tableName, tableName), isNull(ledgerFills.completedAt)));
}

async function estimateRows(database: Database, tableName: string): Promise<number> {
  const [row] = await database.execute<{ rows: number }>(
    sql`SELECT greatest(reltuples, 0)::float8 AS rows FROM pg_class WHERE oid = ${tableName}::regclass`,
  );
  return row?.rows ?? 0;
}
