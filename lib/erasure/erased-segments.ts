import { and, asc, count, eq, inArray, max, min, type SQL, sql } from 'drizzle-orm';
import { inBoundedTransaction } from '../db/bounded-transaction.ts';
import type { Database, Transaction } from '../db/database.ts';
import { events, segments } from '../db/schema.ts';
import { inSpace } from '../event/terms.ts';
import type { Batch } from './candidates.ts';
import { countErased, type Erasure } from './erasure-row.ts';
import { statisticsTable } from './rewritten-files.ts';
import { isOf, matchRows } from './subject.ts';
import { type WipedSegment, wipeSegment } from './wiped-segment.ts';

/** What one transaction erased. */
export interface ErasedBatch {
  readonly events: number;
  readonly copies: number;
  readonly segmentsRewritten: number;
  readonly segmentsDeleted: number;
  /** Segments that cannot be read. Their events of the subject have no row any more. */
  readonly damaged: readonly string[];
}

/**
 * Erases the subject's events from these segments in one transaction: rows, and the texts in the segments. A segment that
 * has no event any more is deleted. Killed in between it changes nothing.
 *
 * The segments are locked first, in the order in which retention locks them: a slice that a writer adds to one of them is
 * erased by the same transaction, or by a later pass.
 */
export function eraseBatch(database: Database, erasure: Erasure, ids: Batch): Promise<ErasedBatch> {
  return inBoundedTransaction(database, async (transaction) => {
    const batch = new BatchErasure(transaction, erasure);
    const erased = await batch.erase(ids);
    const { damaged: _, ...counts } = erased;
    if (counts.events + counts.copies + counts.segmentsDeleted > 0)
      await countErased(transaction, erasure, {
        ...counts,
        unwritten: [...batch.partitions, statisticsTable],
      });
    return erased;
  });
}

class BatchErasure {
  readonly #transaction: Transaction;
  readonly #erasure: Erasure;
  partitions: string[] = [];

  constructor(transaction: Transaction, erasure: Erasure) {
    this.#transaction = transaction;
    this.#erasure = erasure;
  }

  async erase(ids: Batch): Promise<ErasedBatch> {
    const locked = await this.#lockSegments(ids);
    if (locked.length === 0)
      return { events: 0, copies: 0, segmentsRewritten: 0, segmentsDeleted: 0, damaged: [] };
    const gone = await this.#deleteRows(locked, matchRows(this.#erasure.subject));
    const spans = await this.#readSpans(locked);
    const empty = locked.filter((id) => !spans.has(id));
    await this.#deleteSegments(empty);
    const totals = { events: gone.length, copies: 0, segmentsRewritten: 0 };
    const damaged: string[] = [];
    const goneBySegment = Map.groupBy(gone, ({ segmentId }) => segmentId);
    for (const [id, span] of spans) {
      const deleted = new Set(goneBySegment.get(id)?.map(({ segmentIndex }) => segmentIndex));
      const wiped = await this.#wipe(id, deleted);
      if (wiped === undefined) continue;
      if (wiped === 'damaged') {
        damaged.push(id);
        continue;
      }
      const extra = wiped.wiped.filter((index) => !deleted.has(index));
      // A row whose column differs from what the text says.
      const deletedLate =
        extra.length === 0 ? [] : await this.#deleteRows([id], inArray(events.segmentIndex, extra));
      const eventCount = span.eventCount - deletedLate.length;
      await this.#rewriteSegment(id, wiped, { ...span, eventCount });
      totals.events += deletedLate.length;
      totals.copies += extra.length - deletedLate.length;
      totals.segmentsRewritten += 1;
    }
    return { ...totals, segmentsDeleted: empty.length, damaged };
  }

  /** @returns those that are still there. */
  async #lockSegments(ids: Batch): Promise<string[]> {
    const rows = await this.#transaction
      .select({ id: segments.id, partition: sql<string>`${segments}.tableoid::regclass::text` })
      .from(segments)
      .where(this.#areSegments(ids))
      .orderBy(asc(segments.id))
      .for('update');
    this.partitions = rows.map(({ partition }) => partition);
    return rows.map(({ id }) => id);
  }

  #deleteRows(ids: Batch, condition: SQL | undefined) {
    return this.#transaction
      .delete(events)
      .where(and(eq(events.spaceId, this.#erasure.spaceId), inArray(events.segmentId, [...ids]), condition))
      .returning({ segmentId: events.segmentId, segmentIndex: events.segmentIndex });
  }

  /** The start times of the events that are left, and how many they are, of each segment that has any. */
  async #readSpans(ids: Batch): Promise<Map<string, Span>> {
    const rows = await this.#transaction
      .select({
        id: events.segmentId,
        minStartMs: sql<number>`${min(events.startTimeMs)}`,
        maxStartMs: sql<number>`${max(events.startTimeMs)}`,
        eventCount: count(),
      })
      .from(events)
      .where(and(eq(events.spaceId, this.#erasure.spaceId), inArray(events.segmentId, [...ids])))
      .groupBy(events.segmentId)
      .orderBy(events.segmentId);
    return new Map(rows.map(({ id, ...span }) => [id, span]));
  }

  async #deleteSegments(ids: Batch): Promise<void> {
    if (ids.length > 0) await this.#transaction.delete(segments).where(this.#areSegments(ids));
  }

  /** One at a time: memory holds one segment. @returns undefined when it has nothing to erase. */
  async #wipe(id: string, deleted: ReadonlySet<number>): Promise<WipedSegment | 'damaged' | undefined> {
    const [stored] = await this.#transaction
      .select({ body: segments.body, rawBytes: segments.rawBytes })
      .from(segments)
      .where(this.#areSegments([id]));
    if (stored === undefined) return undefined;
    try {
      const { subject } = this.#erasure;
      return wipeSegment(stored, (event, index) => deleted.has(index) || isOf(subject, event));
    } catch {
      return 'damaged';
    }
  }

  async #rewriteSegment(id: string, { body, rawBytes, terms }: WipedSegment, span: Span): Promise<void> {
    const kept = `{${inSpace(this.#erasure.spaceId, terms).join()}}`;
    await this.#transaction
      .update(segments)
      .set({ body, rawBytes, terms: sql`${kept}::bigint[]`, ...span })
      .where(this.#areSegments([id]));
  }

  #areSegments(ids: Batch): SQL | undefined {
    return and(eq(segments.spaceId, this.#erasure.spaceId), inArray(segments.id, [...ids]));
  }
}

interface Span {
  readonly eventCount: number;
  readonly minStartMs: number;
  readonly maxStartMs: number;
}
