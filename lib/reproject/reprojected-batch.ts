import { and, asc, eq, inArray, isNull, max, min, ne, or, type SQL, sql } from 'drizzle-orm';
import { inBoundedTransaction } from '../db/bounded-transaction.ts';
import { clientOf, type Database, type Transaction } from '../db/database.ts';
import { projectionVersion } from '../db/limits.ts';
import { events, segmentAdditions, segments } from '../db/schema.ts';
import type { CompiledStatement } from '../db/statement.ts';
import { columnNames } from '../event/columns.ts';
import type { ColumnTexts } from '../event/projection.ts';
import { inSpace } from '../event/terms.ts';
import { subtractOldCounts } from './old-counts.ts';
import { type Reprojection, reprojectSegment } from './segment-events.ts';
import { addCounts, parameterNames, updateColumns } from './statements.ts';

/** What one transaction has computed again. */
export interface ReprojectedBatch {
  readonly segments: number;
  /** Rows of which a column has changed. */
  readonly events: number;
  /** Events that were taken out of the counts of an older Weir and counted as they are now. */
  readonly recounted: number;
  /** Segments that cannot be read. They stay as they are. */
  readonly damaged: readonly string[];
}

/** `segments.stored_xid` of what was stored before there was the ledger, and counted as Weir did then. */
const storedBeforeLedger = '0';

/** Segments of which the columns, terms or counts are of another version. */
export function isOutdated(): SQL | undefined {
  return or(isNull(segments.projection), ne(segments.projection, projectionVersion));
}

/**
 * Computes columns, terms and counts of these segments again, in one transaction. Rows are changed, never added: what was erased or
 * has expired does not come back. A segment that another process has done meanwhile is left out.
 */
export function reprojectBatch(
  database: Database,
  spaceId: string,
  ids: readonly string[],
): Promise<ReprojectedBatch> {
  return inBoundedTransaction(database, async (transaction) => {
    const totals = { segments: 0, events: 0, recounted: 0 };
    const damaged: string[] = [];
    const areSegments = and(eq(segments.spaceId, spaceId), inArray(segments.id, [...ids]));
    const locked = await transaction
      .select({ id: segments.id, storedXid: segments.storedXid })
      .from(segments)
      .where(and(areSegments, isOutdated()))
      .orderBy(asc(segments.id))
      .for('update');
    const counted: Reprojection[] = [];
    for (const { id, storedXid } of locked) {
      const segment = new SegmentReprojection(transaction, spaceId, id);
      const projected = await segment.reproject();
      if (projected === undefined) {
        damaged.push(id);
        continue;
      }
      // Before the columns change: what they say now is what was counted.
      if (storedXid === storedBeforeLedger) counted.push(await segment.uncount(projected));
      totals.events += await segment.updateColumns(projected);
      await segment.noteDone(projected);
      totals.segments += 1;
    }
    totals.recounted = await countAgain(transaction, spaceId, counted);
    return { ...totals, damaged };
  });
}

/**
 * At the end and by one statement, which locks the counters in the order of the writer's: the two cannot deadlock, and a writer
 * waits for no more than this.
 */
async function countAgain(
  transaction: Transaction,
  spaceId: string,
  counted: readonly Reprojection[],
): Promise<number> {
  const indexes = counted.flatMap((one) => one.indexes);
  if (indexes.length === 0) return 0;
  const nonEmpty = counted.filter((one) => one.indexes.length > 0);
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, nonEmpty.map((one) => one.columns[name]).join()]),
  ) as ColumnTexts;
  await run(transaction, addCounts, { spaceId, columns, indexes });
  return indexes.length;
}

/** @returns the number of rows. */
async function run(
  transaction: Transaction,
  { text, parameters }: CompiledStatement,
  input: { spaceId: string; segmentId?: string; columns: ColumnTexts; indexes: readonly number[] },
): Promise<number> {
  const values = new Map<string, string>([
    [parameterNames.spaceId, input.spaceId],
    [parameterNames.segmentId, input.segmentId ?? ''],
    [parameterNames.indexes, `{${input.indexes.join()}}`],
    ...columnNames.map((name) => [name, `{${input.columns[name]}}`] as const),
  ]);
  const { count } = await clientOf(transaction).unsafe(
    text,
    parameters.map((name) => values.get(name) ?? ''),
  );
  return count;
}

class SegmentReprojection {
  readonly #transaction: Transaction;
  readonly #spaceId: string;
  readonly #id: string;

  constructor(transaction: Transaction, spaceId: string, id: string) {
    this.#transaction = transaction;
    this.#spaceId = spaceId;
    this.#id = id;
  }

  /** @param stored of the events with these indexes; of all that have a row when absent. @returns undefined when it cannot be read. */
  async reproject(stored?: ReadonlySet<number>): Promise<Reprojection | undefined> {
    const indexes = stored ?? (await this.#readIndexes());
    const [row] = await this.#transaction
      .select({ body: segments.body, rawBytes: segments.rawBytes })
      .from(segments)
      .where(this.#isSegment());
    try {
      return row && reprojectSegment(row, indexes);
    } catch {
      return undefined;
    }
  }

  /** Takes its events out of the counts of then. @returns those events: they are to be counted again. */
  async uncount(projected: Reprojection): Promise<Reprojection> {
    // What a writer of a later version has added to the segment was counted by it.
    const isOld = sql`${events.segmentIndex} NOT IN (
      SELECT unnest(${segmentAdditions.indexes}) FROM ${segmentAdditions}
      WHERE ${segmentAdditions.spaceId} = ${this.#spaceId}::uuid AND ${segmentAdditions.segmentId} = ${this.#id}::uuid)`;
    const old = await this.#readIndexes(isOld);
    // Of a row without a text nothing could be counted again.
    const hasText = sql`${events.segmentIndex} = ANY (${`{${projected.indexes.join()}}`}::integer[])`;
    const gone = sql`${this.#ofEvents()} AND ${isOld} AND ${hasText}`;
    for (const statement of subtractOldCounts(this.#spaceId, gone))
      await this.#transaction.execute(statement);
    if (projected.indexes.every((index) => old.has(index))) return projected;
    return (await this.reproject(old)) ?? projected;
  }

  /** @returns how many rows have changed. */
  async updateColumns({ columns, indexes }: Reprojection): Promise<number> {
    if (indexes.length === 0) return 0;
    const [spaceId, segmentId] = [this.#spaceId, this.#id];
    return run(this.#transaction, updateColumns, { spaceId, segmentId, columns, indexes });
  }

  /** The indexes of the events that have a row. */
  async #readIndexes(condition?: SQL): Promise<Set<number>> {
    const rows = await this.#transaction
      .select({ index: events.segmentIndex })
      .from(events)
      .where(and(this.#ofEvents(), condition));
    return new Set(rows.map(({ index }) => index));
  }

  async noteDone({ terms }: Reprojection): Promise<void> {
    const own = `{${inSpace(this.#spaceId, terms).join()}}`;
    const [span] = await this.#transaction
      .select({ minStartMs: min(events.startTimeMs), maxStartMs: max(events.startTimeMs) })
      .from(events)
      .where(this.#ofEvents());
    await this.#transaction
      .update(segments)
      .set({ terms: sql`${own}::bigint[]`, projection: projectionVersion, ...span })
      .where(this.#isSegment());
  }

  #isSegment(): SQL | undefined {
    return and(eq(segments.spaceId, this.#spaceId), eq(segments.id, this.#id));
  }

  #ofEvents(): SQL | undefined {
    return and(eq(events.spaceId, this.#spaceId), eq(events.segmentId, this.#id));
  }
}
