import type { IngestEvent } from '../../event/event.ts';
import { type ColumnTexts, projectEvents, projectTerms } from '../../event/projection.ts';
import { listEvents } from '../../event/segment/cut.ts';
import { decompressSegment, parseEvent } from '../../event/segment/parsed-event.ts';

/** The columns and terms of a segment's events by the current version of the projection. */
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
 * Computes columns and terms of a segment. Erased events have neither.
 *
 * @param stored indexes of the events that have a row.
 * @throws Error when the segment is damaged.
 */
export function reprojectSegment(
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
