import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { termsOfColumns } from '../../event/column-terms.ts';
import { editSegment } from '../../event/segment/edited-segment.ts';
import { inSpace, type TermColumn } from '../../event/terms.ts';
import { pick } from '../../platform/pick.ts';
import { inBoundedTransaction } from '../../store/db/bounded-transaction.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import { events, segments } from '../../store/db/schema.ts';
import { nameOf } from '../../store/db/statement.ts';
import { erasedRows, insertDeltas } from '../../store/write/statistics/deltas.ts';
import { selectCountedSegments, selectDimensions } from '../../store/write/statistics/space-dimensions.ts';
import type { Batch } from './candidates.ts';
import { statisticsTable } from './cluster/cluster-files.ts';
import { type ErasedAttachments, eraseAttached } from './erased-attachments.ts';
import { countedColumns, countedRow, findMerged, recordErased } from './erased-record.ts';
import { countErased, type Erasure } from './erasure-row.ts';
import { matchRows } from './subject.ts';

export interface ErasedBatch {
  readonly events: number;
  readonly segmentsRewritten: number;
  readonly segmentsDeleted: number;
  /** Segments that cannot be read. The rows of the subject's events in them are deleted. */
  readonly damaged: readonly string[];
}

export interface RowErasure {
  readonly spaceId: string;
  /** The condition on rows of `events`. */
  readonly matches: SQL | undefined;
  /** Records it in the transaction that erased them. */
  note(transaction: Transaction, gone: GoneRows): Promise<void>;
}

/** The rows that one transaction erased, at least one. */
export interface GoneRows extends ErasedBatch {
  readonly rows: readonly GoneRow[];
  /** Notes and media of the rows, and of traces and threads whose last events the rows were. */
  readonly attached: ErasedAttachments;
  /** The tables whose files have to be rewritten. */
  readonly unwritten: readonly string[];
}

type GoneRow = Parameters<typeof countedRow>[0] & {
  readonly id: string;
  readonly traceId: string | null;
  readonly threadId: string | null;
  readonly apiKeyId: string;
};

/**
 * Erases the subject's rows and texts from these segments in one transaction. A segment has no text without a
 * row (ADR 0024), and without events is deleted. Segments are locked first, in the order in which retention
 * locks them, to avoid deadlocks.
 */
export function eraseBatch(database: Database, erasure: Erasure, ids: Batch): Promise<ErasedBatch> {
  const { spaceId, subject } = erasure;
  const note: RowErasure['note'] = async (
    transaction,
    { events, segmentsRewritten, segmentsDeleted, rows, attached, unwritten },
  ) => {
    const counts = { events, segmentsRewritten, segmentsDeleted, ...attached.counts };
    await countErased(transaction, erasure, { ...counts, unwritten });
    // After a restore a deleted space is deleted again.
    if (subject.kind === 'space') return;
    const ids = rows.map(({ id }) => id);
    await recordErased(transaction, erasure, {
      ids: [...attached.useIds, ...ids],
      mediaIds: attached.mediaIds,
      merged: rows.every(({ traceId }) => traceId === null)
        ? []
        : await findMerged(transaction, spaceId, ids),
      counted: rows.map((row) => countedRow(row, row.apiKeyId)),
    });
  };
  return eraseRows(database, { spaceId, matches: matchRows(subject), note }, ids);
}

/** Like {@link eraseBatch}, for the rows that a condition matches. */
export function eraseRows(database: Database, erasure: RowErasure, ids: Batch): Promise<ErasedBatch> {
  return inBoundedTransaction(database, async (transaction) => {
    const batch = new BatchErasure(transaction, erasure);
    const erased = await batch.erase(ids);
    const { rows, partitions } = batch;
    if (rows.length === 0) return erased;
    const attached = await eraseAttached(transaction, erasure.spaceId, rows);
    const unwritten = [...partitions, statisticsTable, ...attached.unwritten];
    await erasure.note(transaction, { ...erased, rows, attached, unwritten });
    return erased;
  });
}

class BatchErasure {
  readonly #transaction: Transaction;
  readonly #erasure: RowErasure;
  partitions: string[] = [];
  rows: GoneRow[] = [];
  #keys = new Map<string, string>();

  constructor(transaction: Transaction, erasure: RowErasure) {
    this.#transaction = transaction;
    this.#erasure = erasure;
  }

  async erase(ids: Batch): Promise<ErasedBatch> {
    const locked = await this.#lockSegments(ids);
    const gone = locked.length === 0 ? [] : await this.#deleteRows(locked);
    this.rows = gone.map((row) => ({ ...row, apiKeyId: this.#keys.get(row.segmentId) ?? '' }));
    const touched = Map.groupBy(gone, ({ segmentId }) => segmentId);
    const left = await this.#readRows([...touched.keys()]);
    const empty = [...touched.keys()].filter((id) => !left.has(id));
    if (empty.length > 0) await this.#transaction.delete(segments).where(this.#areSegments(empty));
    const damaged: string[] = [];
    for (const [id, rows] of left) {
      const indexes = new Set(touched.get(id)?.map(({ segmentIndex }) => segmentIndex));
      const body = await this.#wipe(id, indexes);
      if (body === undefined) damaged.push(id);
      await this.#updateSegment(id, { ...body, ...summarize(this.#erasure.spaceId, rows) });
    }
    return {
      events: gone.length,
      segmentsRewritten: left.size - damaged.length,
      segmentsDeleted: empty.length,
      damaged,
    };
  }

  /** @returns the ids that still exist. */
  async #lockSegments(ids: Batch): Promise<string[]> {
    const rows = await this.#transaction
      .select({
        id: segments.id,
        apiKeyId: segments.apiKeyId,
        partition: sql<string>`${segments}.tableoid::regclass::text`,
      })
      .from(segments)
      .where(this.#areSegments(ids))
      .orderBy(asc(segments.id))
      .for('update');
    this.partitions = rows.map(({ partition }) => partition);
    this.#keys = new Map(rows.map(({ id, apiKeyId }) => [id, apiKeyId]));
    return rows.map(({ id }) => id);
  }

  async #deleteRows(ids: Batch) {
    await this.#subtractRows(ids);
    return this.#transaction
      .delete(events)
      .where(and(this.#areOf(ids), this.#erasure.matches))
      .returning({
        ...countedColumns,
        ...pick(events, 'traceId', 'threadId', 'segmentId', 'segmentIndex'),
      });
  }

  /** Takes the events out of the statistics by dimensions. The others keep what was stored once. */
  async #subtractRows(ids: Batch): Promise<void> {
    const { spaceId, matches } = this.#erasure;
    const ofSpace = sql`${nameOf(events.spaceId)} = ${spaceId}::uuid`;
    await this.#transaction.execute(sql`
      WITH space_dimensions AS MATERIALIZED (${selectDimensions(ofSpace, sql`FOR SHARE`)}
      ), measured AS MATERIALIZED (${erasedRows(sql`${events} WHERE ${and(this.#areOf(ids), matches)} AND (SELECT count(*) FROM space_dimensions) > 0`)}
      ), counted_segments AS MATERIALIZED (${selectCountedSegments(sql`${spaceId}::uuid`)}
      ), deltas AS (${insertDeltas({ from: sql`measured`, isStored: true, countedBy: 'dimensions' })}
      )
      SELECT`);
  }

  /** The remaining events of each segment that has any. */
  async #readRows(ids: Batch): Promise<Map<string, LeftRow[]>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#transaction.select(leftColumns).from(events).where(this.#areOf(ids));
    return Map.groupBy(rows, ({ segmentId }) => segmentId);
  }

  /** One segment at a time is in memory. @returns undefined when the segment cannot be read. */
  async #wipe(id: string, gone: ReadonlySet<number>) {
    const [stored] = await this.#transaction
      .select({ body: segments.body, rawBytes: segments.rawBytes })
      .from(segments)
      .where(this.#areSegments([id]));
    if (stored === undefined) throw new Error('a locked segment is missing');
    try {
      return editSegment(stored, (index, sent) => (gone.has(index) ? undefined : sent));
    } catch {
      return undefined;
    }
  }

  async #updateSegment(id: string, changes: Partial<typeof segments.$inferInsert>): Promise<void> {
    await this.#transaction
      .update(segments)
      .set(changes)
      .where(this.#areSegments([id]));
  }

  #areSegments(ids: Batch): SQL | undefined {
    return and(eq(segments.spaceId, this.#erasure.spaceId), inArray(segments.id, [...ids]));
  }

  #areOf(ids: Batch): SQL | undefined {
    return and(eq(events.spaceId, this.#erasure.spaceId), inArray(events.segmentId, [...ids]));
  }
}

/** Columns of remaining events that determine the range and the terms of their segment. */
const { segmentId, startTimeMs, type, state, name, source, traceId, threadId, agentId, agentGroupId } =
  events;
const { userId, errorCode } = events;
const termTexts = { type, state, name, source, traceId, threadId, agentId, agentGroupId, userId, errorCode };
const leftColumns = {
  ...(termTexts satisfies Record<TermColumn, PgColumn>),
  segmentId,
  startTimeMs,
  // As text: a number may have more digits than a double can represent.
  attributes: sql<string | null>`${events.attributes}::text`,
};
type LeftRow = Record<TermColumn | 'attributes', string | null> & { segmentId: string; startTimeMs: number };

function summarize(spaceId: string, rows: readonly LeftRow[]) {
  const terms = termsOfColumns(rows.map((row) => (column) => row[column] ?? undefined));
  const times = rows.map((row) => row.startTimeMs);
  return {
    eventCount: rows.length,
    minStartMs: Math.min(...times),
    maxStartMs: Math.max(...times),
    terms: inSpace(spaceId, terms),
  };
}
