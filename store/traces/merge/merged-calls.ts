import { createHash } from 'node:crypto';
import { and, eq, inArray } from 'drizzle-orm';
import { listEvents } from '../../../event/segment/cut.ts';
import { editSegment } from '../../../event/segment/edited-segment.ts';
import { decompressSegment } from '../../../event/segment/parsed-event.ts';
import { inSpace } from '../../../event/terms.ts';
import type { Database } from '../../db/database.ts';
import { segments } from '../../db/schema.ts';
import type { EventRow, Measure, SegmentChange, TraceChanges } from '../apply-changes.ts';
import { editedBytesMax } from '../limits.ts';
import type { StoredNode } from '../read-traces.ts';
import type { Relations, SurplusCall } from '../relations.ts';
import { type MergedEvent, mergeStored, readExactEvent } from './merged-texts.ts';
import { mergeFailures } from './metrics.ts';
import { projectEvent } from './projected-event.ts';

export type MergedCalls = Pick<TraceChanges, 'replaced' | 'removed' | 'segments' | 'measures'>;

type StoredSegment = Pick<typeof segments.$inferSelect, 'id' | 'body' | 'rawBytes' | 'eventCount'>;

/**
 * Removes events of surplus calls, merges what describes one call into the event of its innermost span, and takes the parts of sums out
 * of it. Rows, texts, usage and statistics change together, so that each call is stored and billed once.
 *
 * @param surplus whose events are in `rows`.
 */
export async function mergeCalls(
  database: Database,
  spaceId: string,
  { sums, surplus, rows }: Omit<Relations, 'inherited'> & { rows: ReadonlyMap<string, EventRow> },
): Promise<MergedCalls> {
  const changes = { replaced: [], removed: [], segments: [], measures: [] } as {
    -readonly [Key in keyof MergedCalls]: MergedCalls[Key][number][];
  };
  if (surplus.length + sums.length === 0) return changes;
  const rowOf = (node: StoredNode) => rows.get(node.eventId ?? '');
  const stored = await readSegments(
    database,
    spaceId,
    [...surplus, ...sums].flatMap(({ node, call }) => [rowOf(node), call && rowOf(call)]),
  );
  const isReadable = (node: StoredNode | undefined) => {
    const row = node && rowOf(node);
    // Another program may have stored any event under the id of a span.
    return row === undefined || (row.type === 'llm' && stored.has(row.segmentId));
  };
  const readable = surplus.filter(({ node, call }) => isReadable(node) && isReadable(call));
  const dropped = Map.groupBy(
    sums.filter(({ call }) => isReadable(call)),
    ({ call }) => call,
  );
  const byCall = Map.groupBy(readable, (one) => one.call);
  for (const call of dropped.keys()) if (!byCall.has(call)) byCall.set(call, []);
  const edits = new Map<string, Map<number, string | undefined>>();
  const edit = ({ segmentId, segmentIndex }: EventRow, text: string | undefined) =>
    edits.set(segmentId, (edits.get(segmentId) ?? new Map()).set(segmentIndex, text));
  const terms = new Map<string, readonly bigint[]>();
  for (const [call, outer] of byCall) {
    const row = call && rowOf(call);
    const sumIds = new Set(call && dropped.get(call)?.map(({ node }) => node.spanId));
    const merged = row && tryMerge(row, { outer, dropped: sumIds }, { stored, rowOf });
    if (call !== undefined && row !== undefined && merged !== undefined) {
      edit(row, merged.text);
      const { columns, terms: own } = merged;
      terms.set(row.segmentId, [...(terms.get(row.segmentId) ?? []), ...inSpace(spaceId, own)]);
      changes.replaced.push(columns);
      changes.measures.push(measureOf(row, call, -1), { ...columns, sign: 1, isByName: true });
    }
    for (const { node } of outer) {
      const gone = rowOf(node);
      if (gone === undefined) continue;
      edit(gone, undefined);
      changes.removed.push({
        id: gone.id,
        segmentId: gone.segmentId,
        traceId: node.traceId,
        spanId: node.spanId,
      });
      changes.measures.push(measureOf(gone, node, -1));
    }
  }
  for (const [id, own] of edits) {
    const segment = stored.get(id);
    if (segment !== undefined) changes.segments.push(changeSegment(segment, own, terms.get(id) ?? []));
  }
  return changes;
}

interface Texts {
  readonly stored: ReadonlyMap<string, StoredSegment>;
  readonly rowOf: (node: StoredNode) => EventRow | undefined;
}

/**
 * @returns undefined when the result would make the segment too large, or one of the texts is not of a span, though it has the id of one:
 *   then the innermost span alone is the event.
 */
function tryMerge(
  row: EventRow,
  { outer, dropped }: { outer: readonly SurplusCall[]; dropped: ReadonlySet<string> },
  { stored, rowOf }: Texts,
): (ReturnType<typeof projectEvent> & Pick<MergedEvent, 'text'>) | undefined {
  const read = ({ segmentId, segmentIndex }: EventRow) => {
    const segment = stored.get(segmentId);
    if (segment === undefined) throw new Error(`segment ${segmentId} is missing`);
    return readExactEvent(segment, segmentIndex);
  };
  const others = outer.flatMap(({ node }) => {
    const other = rowOf(node);
    return other === undefined ? [] : [{ event: read(other), spanId: node.spanId }];
  });
  const rawBytes = stored.get(row.segmentId)?.rawBytes ?? 0;
  try {
    const { event, text } = mergeStored(read(row), { others, dropped });
    if (rawBytes + Buffer.byteLength(text) > editedBytesMax) return undefined;
    return { text, ...projectEvent(event, row) };
  } catch {
    // The error would return the message to the queue, with those of other spaces, again and again.
    mergeFailures.inc();
    return undefined;
  }
}

function changeSegment(
  segment: StoredSegment,
  edits: ReadonlyMap<number, string | undefined>,
  terms: readonly bigint[],
): SegmentChange {
  const { id, body, rawBytes, eventCount } = segment;
  const removed = [...edits.values()].filter((text) => text === undefined).length;
  const edited = editSegment({ body, rawBytes }, edits);
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

function measureOf(row: EventRow, { reasoningTokens }: StoredNode, sign: 1 | -1): Measure {
  return { ...row, reasoningTokens, sign, isByName: true };
}

/** The segments of these rows, without damaged ones: an operator may repair them. */
async function readSegments(
  database: Database,
  spaceId: string,
  rows: readonly (EventRow | undefined)[],
): Promise<Map<string, StoredSegment>> {
  const ids = [...new Set(rows.flatMap((row) => row?.segmentId ?? []))];
  const { id, body, rawBytes, eventCount } = segments;
  const found = await database
    .select({ id, body, rawBytes, eventCount })
    .from(segments)
    .where(and(eq(segments.spaceId, spaceId), inArray(segments.id, ids)));
  return new Map(found.filter(isIntact).map((segment) => [segment.id, segment]));
}

function isIntact({ body, rawBytes }: StoredSegment): boolean {
  try {
    listEvents(decompressSegment(body, rawBytes));
    return true;
  } catch {
    return false;
  }
}
