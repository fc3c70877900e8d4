import { createHash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { columnNames } from '../../event/columns.ts';
import { editSegment } from '../../event/segment/edited-segment.ts';
import { splitElements } from '../../event/text.ts';
import { ColumnsSchema, PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import type { Part } from '../../platform/queue/group.ts';

/**
 * The events `from` to `to` (exclusive) of a part, as a part with its own segment id, so that statements that
 * store slices of one part do not write the same segment. The events keep their indexes.
 */
export function slicePart(part: Part, from: number, to: number): Part {
  const slice = pickEvents(part, (at) => at >= from && at < to);
  return create(PartSchema, { ...slice, segmentId: sliceSegmentId(part.segmentId, slice.columns?.id ?? '') });
}

/**
 * The events at some places of a part, as a part whose columns and body have only these events. They keep
 * their indexes.
 */
export function pickEvents(part: Part, isPicked: (at: number) => boolean): Part {
  const picked = pickColumns(part, isPicked);
  const indexes = new Set(splitElements(picked.columns?.segmentIndex ?? '').map(Number));
  try {
    const stored = { body: part.body, rawBytes: Number(part.rawBytes) };
    const { body, rawBytes } = editSegment(stored, (index, sent) => (indexes.has(index) ? sent : undefined));
    return create(PartSchema, { ...picked, body, rawBytes: BigInt(rawBytes) });
  } catch {
    // A damaged segment is kept whole: an operator may repair it.
    return picked;
  }
}

/** The columns of the events at some places, with the whole body. */
export function pickColumns(part: Part, isPicked: (at: number) => boolean): Part {
  const columns = create(ColumnsSchema);
  for (const name of columnNames) {
    columns[name] = splitElements(part.columns?.[name] ?? '')
      .filter((_, at) => isPicked(at))
      .join(',');
  }
  const eventCount = Array.from({ length: part.eventCount }, (_, at) => at).filter(isPicked).length;
  // The terms of these events are computed when they are stored.
  return create(PartSchema, { ...part, eventCount, columns, terms: '' });
}

/**
 * A UUIDv7 of the same millisecond, hence in the same partition, and equal at every attempt. Its middle is a
 * hash of the ids of the segment and the events (clients choose the latter); its end is that of the segment:
 * see {@link isSliceOf}.
 */
function sliceSegmentId(segmentId: string, eventIds: string): string {
  const hash = createHash('sha256').update(`${segmentId}:${eventIds}`).digest('hex');
  return `${segmentId.slice(0, 13)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 10)}${segmentId.slice(-8)}`;
}

/** Whether the segment `id` is `segmentId` or a slice of it, or a slice of a slice. */
export function isSliceOf(segmentId: string, id: string): boolean {
  return id.slice(0, 13) === segmentId.slice(0, 13) && id.slice(-8) === segmentId.slice(-8);
}
