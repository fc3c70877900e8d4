import { and, asc, eq, inArray, lt, max, min, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { termsOfColumns } from '../../event/column-terms.ts';
import { columnNames } from '../../event/columns.ts';
import type { IngestEvent } from '../../event/event.ts';
import { type ColumnTexts, projectEvents, projectionVersion, projectTerms } from '../../event/projection.ts';
import { listEvents } from '../../event/segment/cut.ts';
import { decompressSegment, parseEvent } from '../../event/segment/parsed-event.ts';
import { inSpace, unionTerms } from '../../event/terms.ts';
import { inBoundedTransaction } from '../../store/db/bounded-transaction.ts';
import { clientOf, type Database, type Transaction } from '../../store/db/database.ts';
import { events, segments } from '../../store/db/schema.ts';
import type { CompiledStatement } from '../../store/db/statement.ts';
import { parameterNames, updateColumns } from './statements.ts';

export type ReprojectedBatch = Awaited<ReturnType<typeof reprojectBatch>>;

/** The condition that a segment is of an older version. Those of newer ones are left unchanged. */
export function isOutdated(): SQL {
  return lt(segments.projection, projectionVersion);
}

/**
 * Recomputes these segments in one transaction. Only updates rows, so erased and expired events stay away.
 * Skips segments that another process has recomputed meanwhile.
 */
export function reprojectBatch(database: Database, spaceId: string, ids: readonly string[]) {
  return inBoundedTransaction(database, async (transaction) => {
    const totals = { segments: 0, events: 0 };
    const damaged: string[] = [];
    const areSegments = and(eq(segments.spaceId, spaceId), inArray(segments.id, [...ids]));
    const locked = await transaction
      .select({ id: segments.id })
      .from(segments)
      .where(and(areSegments, isOutdated()))
      .orderBy(asc(segments.id))
      .for('update');
    for (const { id } of locked) {
      const segment = new SegmentReprojection(transaction, spaceId, id);
      const projected = await segment.reproject();
      if (projected === undefined) {
        damaged.push(id);
        continue;
      }
      totals.events += await segment.updateColumns(projected);
      await segment.noteDone(projected);
      totals.segments += 1;
    }
    return {
      ...totals,
      /** Damaged segments, which are left unchanged. */
      damaged,
    };
  });
}

async function run(
  transaction: Transaction,
  { text, parameters }: CompiledStatement,
  input: Omit<Reprojection, 'terms'> & { spaceId: string; segmentId: string },
): Promise<number> {
  const values = new Map<string, string>([
    [parameterNames.spaceId, input.spaceId],
    [parameterNames.segmentId, input.segmentId],
    [parameterNames.indexes, `{${input.indexes.join()}}`],
    [parameterNames.sentCacheRead, `{${input.sent.cacheRead.join()}}`],
    [parameterNames.sentCacheWrite, `{${input.sent.cacheWrite.join()}}`],
    [parameterNames.sentReasoning, `{${input.sent.reasoning.join()}}`],
    ...columnNames.map((name) => [name, `{${input.columns[name]}}`] as const),
  ]);
  const [row] = await clientOf(transaction).unsafe<{ changed: number }[]>(
    text,
    parameters.map((name) => values.get(name) ?? ''),
  );
  return row?.changed ?? 0;
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

  /** @returns undefined when the segment is damaged. */
  async reproject(): Promise<Reprojection | undefined> {
    const indexes = await this.#readIndexes();
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

  /** @returns the number of changed rows. */
  async updateColumns({ columns, indexes, sent }: Reprojection): Promise<number> {
    if (indexes.length === 0) return 0;
    const [spaceId, segmentId] = [this.#spaceId, this.#id];
    return run(this.#transaction, updateColumns, { spaceId, segmentId, columns, indexes, sent });
  }

  /** Indexes of the events that still have a row. */
  async #readIndexes(): Promise<Set<number>> {
    const rows = await this.#transaction
      .select({ index: events.segmentIndex })
      .from(events)
      .where(this.#ofEvents());
    return new Set(rows.map(({ index }) => index));
  }

  async noteDone({ terms }: Reprojection): Promise<void> {
    const all = unionTerms([terms, await this.#readInheritedTerms()]);
    const own = `{${inSpace(this.#spaceId, all).join()}}`;
    const start = (bound: SQL, kept: PgColumn) =>
      sql`coalesce((SELECT ${bound} FROM ${events} WHERE ${this.#ofEvents()}), ${kept})`;
    await this.#transaction
      .update(segments)
      .set({
        terms: sql`${own}::bigint[]`,
        minStartMs: start(min(events.startTimeMs), segments.minStartMs),
        maxStartMs: start(max(events.startTimeMs), segments.maxStartMs),
        projection: projectionVersion,
      })
      .where(this.#isSegment());
  }

  /** Terms of agents, threads and users, which an event may have from another span of its trace (ADR 27). */
  async #readInheritedTerms(): Promise<bigint[]> {
    const { state, agentId, threadId, userId } = events;
    const rows = await this.#transaction
      .select({ state, agentId, threadId, userId })
      .from(events)
      .where(this.#ofEvents());
    return termsOfColumns(
      rows.map((row) => (name) => (name in row ? (row[name as keyof typeof row] ?? undefined) : undefined)),
    );
  }

  #isSegment(): SQL | undefined {
    return and(eq(segments.spaceId, this.#spaceId), eq(segments.id, this.#id));
  }

  #ofEvents(): SQL | undefined {
    return and(eq(events.spaceId, this.#spaceId), eq(events.segmentId, this.#id));
  }
}

export interface Reprojection {
  /** The columns of the events that have a row, and the indexes of these events in the segment. */
  readonly columns: ColumnTexts;
  readonly indexes: readonly number[];
  /** Counts of the same events as they were sent, elements of array literals. */
  readonly sent: Record<'cacheRead' | 'cacheWrite' | 'reasoning', (number | 'NULL')[]>;
  /** The terms of all events of the segment, before `inSpace`. */
  readonly terms: readonly bigint[];
}

/**
 * Computes columns and terms, without erased events.
 * @param stored indexes of the events that have a row. @throws Error when the segment is damaged.
 */
function reprojectSegment(
  { body, rawBytes }: { body: Buffer; rawBytes: number },
  stored: ReadonlySet<number>,
): Reprojection {
  const segment = decompressSegment(body, rawBytes);
  const all: IngestEvent[] = [];
  const withRow: IngestEvent[] = [];
  const indexes: number[] = [];
  const sent: Reprojection['sent'] = { cacheRead: [], cacheWrite: [], reasoning: [] };
  for (const [index, range] of listEvents(segment).entries()) {
    const event = parseEvent(segment, range);
    if (event === undefined) continue;
    all.push(event);
    if (!stored.has(index)) continue;
    withRow.push(event);
    indexes.push(index);
    const usage = event.type === 'llm' ? event.properties.llm.usage : undefined;
    sent.cacheRead.push(usage?.inputTokenDetails?.cacheReadTokens ?? 'NULL');
    sent.cacheWrite.push(usage?.inputTokenDetails?.cacheWriteTokens ?? 'NULL');
    sent.reasoning.push(usage?.outputTokenDetails?.reasoningTokens ?? 'NULL');
  }
  return { columns: projectEvents(withRow).columns, indexes, sent, terms: projectTerms(all) };
}
