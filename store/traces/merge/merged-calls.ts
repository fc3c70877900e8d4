import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { and, eq, inArray } from 'drizzle-orm';
import { type EventRange, listEvents } from '../../../event/segment/cut.ts';
import { editSegment } from '../../../event/segment/edited-segment.ts';
import { decompressSegment } from '../../../event/segment/parsed-event.ts';
import { inSpace } from '../../../event/terms.ts';
import type { Database } from '../../db/database.ts';
import { events, segments } from '../../db/schema.ts';
import type { EventRow, SegmentChange, TraceChanges } from '../apply-changes.ts';
import { editedBytesMax } from '../limits.ts';
import type { StoredNode } from '../read-traces.ts';
import type { Relations } from '../relations.ts';
import { type CallGroup, divideGroups, groupByCall } from './call-groups.ts';
import { type MergedEvent, mergeStored, readExactEvent } from './merged-texts.ts';
import { mergeFailures } from './metrics.ts';
import { projectEvent } from './projected-event.ts';

/** Changes of calls for one statement, and which spans they are of. */
export interface MergedCalls extends Pick<TraceChanges, 'replaced' | 'removed' | 'segments'> {
  readonly groups: readonly CallGroup[];
}

/** The events of spans of one call, by their ids: undefined for one that is not stored. */
export type CallRows = ReadonlyMap<string, EventRow | undefined>;

type StoredSegment = Pick<typeof segments.$inferSelect, 'id' | 'body' | 'rawBytes' | 'eventCount'>;

/** A segment with its texts, which several calls read. */
interface OpenSegment extends StoredSegment {
  readonly raw: Buffer;
  readonly ranges: readonly EventRange[];
}

/**
 * Removes events of surplus calls, merges what describes one call into the event of its innermost span, and
 * takes the parts of sums out of it. Rows, texts, usage and statistics change together, so that each call is
 * stored and billed once. A surplus event stays while none of the calls below it is stored.
 *
 * Yields the changes of some calls at a time, in the order of their segments, so that most segments are read
 * and written once.
 */
export async function* mergeCalls(
  database: Database,
  spaceId: string,
  { sums, surplus, rows }: Pick<Relations, 'sums' | 'surplus'> & { rows: CallRows },
): AsyncGenerator<MergedCalls> {
  if (sums.length + surplus.length === 0) return;
  const rowOf = (node: StoredNode | undefined) => rows.get(node?.eventId ?? '');
  // Another program may have stored any event under the id of a span.
  const isOfSpan = (node: StoredNode | undefined) => {
    const type = rowOf(node)?.type;
    return type === undefined || (type === 'tool') === (node?.kind === 'tool');
  };
  const removable = surplus.filter(
    ({ node, call, below }) =>
      rowOf(node) !== undefined && below.some(rowOf) && isOfSpan(node) && isOfSpan(call),
  );
  const groups = groupByCall(removable, sums).filter(({ call }) => isOfSpan(call));
  const segmentsOf = ({ call, outer }: CallGroup) =>
    [call, ...outer.map(({ node }) => node)].flatMap((node) => rowOf(node)?.segmentId ?? []);
  const sizes = await readSizes(database, spaceId, groups.flatMap(segmentsOf));
  for (const batch of divideGroups(groups, segmentsOf, sizes)) {
    const open = await openSegments(database, spaceId, batch.flatMap(segmentsOf));
    const merging = new Merging(spaceId, rows, open);
    for (const group of batch) {
      if (segmentsOf(group).every((id) => open.has(id))) merging.add(group);
      // A text may have megabytes.
      await setImmediate();
    }
    yield merging.finish();
  }
}

class Merging {
  readonly #spaceId: string;
  readonly #rows: CallRows;
  readonly #open: ReadonlyMap<string, OpenSegment>;
  readonly #groups: CallGroup[] = [];
  readonly #edits = new Map<string, Map<number, string | undefined>>();
  /** The bytes that the edits add to each segment. */
  readonly #added = new Map<string, number>();
  readonly #terms = new Map<string, bigint[]>();
  readonly #replaced: TraceChanges['replaced'][number][] = [];
  readonly #removed: TraceChanges['removed'][number][] = [];

  constructor(spaceId: string, rows: CallRows, open: ReadonlyMap<string, OpenSegment>) {
    this.#spaceId = spaceId;
    this.#rows = rows;
    this.#open = open;
  }

  add(group: CallGroup): void {
    this.#groups.push(group);
    const { call, outer } = group;
    const row = this.#rows.get(call?.eventId ?? '');
    const merged = row && this.#tryMerge(row, group);
    if (call !== undefined && row !== undefined && merged !== undefined) {
      this.#edit(row, merged.text);
      const { columns, terms } = merged;
      this.#terms.getOrInsert(row.segmentId, []).push(...inSpace(this.#spaceId, terms));
      this.#replaced.push(columns);
    }
    for (const { node } of outer) {
      const gone = this.#rows.get(node.eventId ?? '');
      if (gone === undefined) continue;
      const { id, segmentId } = gone;
      this.#edit(gone, undefined);
      this.#removed.push({ id, segmentId, traceId: node.traceId, spanId: node.spanId });
    }
  }

  finish(): MergedCalls {
    const changes = Array.from(this.#edits, ([id, edits]) => {
      const segment = this.#open.get(id);
      return segment === undefined ? [] : changeSegment(segment, edits, this.#terms.get(id) ?? []);
    });
    return {
      groups: this.#groups,
      replaced: this.#replaced,
      removed: this.#removed,
      segments: changes.flat(),
    };
  }

  #edit({ segmentId, segmentIndex }: EventRow, text: string | undefined): void {
    this.#edits.getOrInsertComputed(segmentId, () => new Map()).set(segmentIndex, text);
    this.#added.set(segmentId, (this.#added.get(segmentId) ?? 0) + Buffer.byteLength(text ?? ''));
  }

  /**
   * @returns undefined when the segment would be too large, or a text is not of a span: the innermost is the
   * event.
   */
  #tryMerge(
    row: EventRow,
    { outer, dropped }: CallGroup,
  ): (ReturnType<typeof projectEvent> & Pick<MergedEvent, 'text'>) | undefined {
    try {
      const others = outer.flatMap(({ node }) => {
        const other = this.#rows.get(node.eventId ?? '');
        return other === undefined ? [] : [{ event: this.#read(other), spanId: node.spanId }];
      });
      const ids = new Set(dropped.map(({ spanId }) => spanId));
      const { event, text } = mergeStored(this.#read(row), { others, dropped: ids });
      const bytes = (this.#added.get(row.segmentId) ?? 0) + Buffer.byteLength(text);
      if ((this.#open.get(row.segmentId)?.rawBytes ?? 0) + bytes > editedBytesMax) return undefined;
      return { text, ...projectEvent(event, row) };
    } catch {
      mergeFailures.inc();
      return undefined;
    }
  }

  #read({ segmentId, segmentIndex }: EventRow) {
    const segment = this.#open.get(segmentId);
    if (segment === undefined) throw new Error(`segment ${segmentId} is missing`);
    return readExactEvent(segment.raw, segment.ranges[segmentIndex]);
  }
}

function changeSegment(
  segment: StoredSegment,
  edits: ReadonlyMap<number, string | undefined>,
  terms: readonly bigint[],
): SegmentChange {
  const { id, body, rawBytes, eventCount } = segment;
  const removed = [...edits.values()].filter((text) => text === undefined).length;
  const edited = editSegment({ body, rawBytes }, (index, sent) =>
    edits.has(index) ? edits.get(index) : sent,
  );
  return {
    id,
    terms,
    edit: {
      hash: createHash('sha256').update(body).digest('hex'),
      body: edited.body.toString('base64'),
      rawBytes: edited.rawBytes,
      removed,
      isEmpty: removed === eventCount,
    },
  };
}

export async function readCallRows(
  database: Database,
  spaceId: string,
  { sums, surplus }: Pick<Relations, 'sums' | 'surplus'>,
): Promise<CallRows> {
  const nodes = [...surplus.flatMap(({ node, below }) => [node, ...below]), ...sums.map(({ call }) => call)];
  const ids = [...new Set(nodes.flatMap(({ eventId }) => eventId ?? []))];
  if (ids.length === 0) return new Map();
  const rows = await database
    .select()
    .from(events)
    .where(and(eq(events.spaceId, spaceId), inArray(events.id, ids)));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return new Map(ids.map((id) => [id, byId.get(id)]));
}

async function readSizes(
  database: Database,
  spaceId: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await database
    .select({ id: segments.id, rawBytes: segments.rawBytes })
    .from(segments)
    .where(and(eq(segments.spaceId, spaceId), inArray(segments.id, [...new Set(ids)])));
  return new Map(rows.map(({ id, rawBytes }) => [id, rawBytes]));
}

/** Reads segments, without damaged ones: an operator may repair them. */
async function openSegments(
  database: Database,
  spaceId: string,
  ids: readonly string[],
): Promise<Map<string, OpenSegment>> {
  const { id, body, rawBytes, eventCount } = segments;
  const found = await database
    .select({ id, body, rawBytes, eventCount })
    .from(segments)
    .where(and(eq(segments.spaceId, spaceId), inArray(segments.id, [...new Set(ids)])));
  return new Map(found.flatMap((segment) => tryOpen(segment)).map((segment) => [segment.id, segment]));
}

function tryOpen(segment: StoredSegment): OpenSegment[] {
  try {
    const raw = decompressSegment(segment.body, segment.rawBytes);
    return [{ ...segment, raw, ranges: listEvents(raw) }];
  } catch {
    return [];
  }
}
