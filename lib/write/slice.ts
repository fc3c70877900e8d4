import { createHash } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { ColumnsSchema, PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { columnNames } from '../event/columns.ts';
import { splitElements } from '../event/text.ts';
import type { Part } from '../queue/group.ts';
import { cutEvents } from '../segment/cut.ts';

/** The events `from` to `to` (exclusive) of a part, as a part. They keep their segment and their indexes in it. */
export function slicePart(part: Part, from: number, to: number): Part {
  return pickEvents(part, (at) => at >= from && at < to);
}

/** The events at some places of a part, as a part. They keep their segment and their indexes in it. */
export function pickEvents(part: Part, isPicked: (at: number) => boolean): Part {
  const columns = create(ColumnsSchema);
  for (const name of columnNames) {
    columns[name] = splitElements(part.columns?.[name] ?? '')
      .filter((_, at) => isPicked(at))
      .join(',');
  }
  const eventCount = Array.from({ length: part.eventCount }, (_, at) => at).filter(isPicked).length;
  return create(PartSchema, { ...part, eventCount, columns });
}

/**
 * A part of one event that stands alone: its segment holds this event and nothing else, so that keeping it keeps nobody
 * else's data.
 *
 * @throws Error when the segment cannot be read.
 */
export function isolateEvent(part: Part): Part {
  const { columns } = part;
  if (columns === undefined) throw new Error(`segment ${part.segmentId} has no columns`);
  const text = cutEvents(zstdDecompressSync(part.body), [Number(columns.segmentIndex)])
    .values()
    .next().value;
  if (text === undefined)
    throw new Error(`segment ${part.segmentId} has no event at ${columns.segmentIndex}`);
  const body = Buffer.from(`{"events":[${text}]}`);
  return create(PartSchema, {
    ...part,
    segmentId: isolatedSegmentId(part.segmentId, columns.id),
    columns: { ...columns, segmentIndex: '0' },
    // The writer computes those of this event alone.
    terms: '',
    eventCount: 1,
    rawBytes: BigInt(body.length),
    body: zstdCompressSync(body),
  });
}

/**
 * The segment's id for one of its events alone: a UUIDv7 of the same millisecond, so that it lies in the same partition,
 * and the same at every attempt. The rest is a hash of both ids: a client chooses the event's.
 */
export function isolatedSegmentId(segmentId: string, eventId: string): string {
  const hash = createHash('sha256').update(`${segmentId}:${eventId}`).digest('hex');
  return `${segmentId.slice(0, 13)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}
