import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { ColumnsSchema, PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { columnNames } from '../event/columns.ts';
import { splitElements } from '../event/text.ts';
import type { Part } from '../queue/group.ts';
import { cutEvents } from '../segment/cut.ts';

/** The events `from` to `to` (exclusive) of a part, as a part. They keep their segment and their places in it. */
export function slicePart(part: Part, from: number, to: number): Part {
  const columns = create(ColumnsSchema);
  for (const name of columnNames) {
    columns[name] = splitElements(part.columns?.[name] ?? '')
      .slice(from, to)
      .join(',');
  }
  return create(PartSchema, { ...part, eventCount: to - from, columns });
}

/**
 * A part of one event that stands alone: its segment holds this event and nothing else, so that keeping it aside
 * keeps nobody else's data.
 *
 * @param segmentId of the segment that it will be.
 */
export function isolateEvent(part: Part, segmentId: string): Part {
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
    segmentId,
    columns: { ...columns, segmentIndex: '0' },
    eventCount: 1,
    rawBytes: BigInt(body.length),
    body: zstdCompressSync(body),
  });
}
