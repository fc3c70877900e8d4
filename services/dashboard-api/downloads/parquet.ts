import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import type { ExportedEvent, WholeExportedEvent } from '../events/export-rows.ts';
import { parquetGroupCharsMax, parquetGroupEventsMax } from '../limits.ts';

/** Events as Parquet: typed columns, and the whole event as it was sent in the column `event`. */

type Kind = 'text' | 'number' | 'time';

/** The columns in output order: the name, its type, and its value. Times are in microseconds, UTC. */
const columns: readonly [name: string, kind: Kind, valueOf: (row: WholeExportedEvent) => unknown][] = [
  ...texts(
    'id',
    'type',
    'state',
    'name',
    'source',
    'traceId',
    'threadId',
    'agentId',
    'agentGroupId',
    'userId',
  ),
  ['startTime', 'time', ({ event }) => microseconds(event.startTimeMs)],
  ['endTime', 'time', ({ event }) => microseconds(event.endTimeMs)],
  ...numbers('durationMs', 'inputTokens', 'outputTokens', 'totalTokens'),
  ...texts('errorCode', 'errorHttpStatus', 'errorMessage', 'inputPreview', 'outputPreview'),
  ['receivedAt', 'time', ({ event }) => microseconds(Date.parse(event.receivedAt))],
  ['flags', 'text', ({ event }) => event.flags.join(' ')],
  ['attributes', 'text', ({ event }) => event.attributes && JSON.stringify(event.attributes)],
  ['event', 'text', ({ text }) => text],
];

const elements: Record<Kind, Omit<SchemaElement, 'name'>> = {
  text: {
    type: 'BYTE_ARRAY',
    converted_type: 'UTF8',
    logical_type: { type: 'STRING' },
    repetition_type: 'OPTIONAL',
  },
  number: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    repetition_type: 'OPTIONAL',
  },
};

const schema: SchemaElement[] = [
  { name: 'events', num_children: columns.length },
  ...columns.map(([name, kind]) => ({ name, ...elements[kind] })),
];

/**
 * Yields a Parquet file in pieces, one row group at a time. Memory holds one group, and the description of each earlier group, a few
 * kilobytes.
 *
 * @param pages events, newest first.
 */
export async function* toParquet(pages: AsyncIterable<WholeExportedEvent[]>): AsyncGenerator<Buffer> {
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema,
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy: 'weir',
  });
  let group: WholeExportedEvent[] = [];
  let chars = 0;
  for await (const page of pages) {
    for (const row of page) {
      group.push(row);
      chars += row.text.length;
      if (group.length < parquetGroupEventsMax && chars < parquetGroupCharsMax) continue;
      yield writeGroup(file, writer, group);
      group = [];
      chars = 0;
    }
  }
  if (group.length > 0) yield writeGroup(file, writer, group);
  await file.finish();
  yield takeBytes(writer);
}

function writeGroup(file: ParquetWriter, writer: ByteWriter, rows: readonly WholeExportedEvent[]): Buffer {
  // With a synchronous writer, `write` is synchronous.
  void file.write({
    columnData: columns.map(([name, , valueOf]) => ({
      name,
      data: rows.map((row) => valueOf(row) ?? undefined),
      offsetIndex: false,
      // A dictionary of payloads would hold each of them a second time.
      ...(name === 'event' && { encoding: 'PLAIN', statistics: false }),
    })),
    rowGroupSize: rows.length,
  });
  return takeBytes(writer);
}

/** The bytes that were written since the last call. The writer's `offset` keeps counting: positions in the file refer to it. */
function takeBytes(writer: ByteWriter): Buffer {
  const bytes = Buffer.from(writer.getBytes());
  writer.index = 0;
  return bytes;
}

function texts(...names: (keyof ExportedEvent)[]): [string, Kind, (row: WholeExportedEvent) => unknown][] {
  return names.map((name) => [name, 'text', ({ event }) => event[name]]);
}

function numbers(...names: (keyof ExportedEvent)[]): [string, Kind, (row: WholeExportedEvent) => unknown][] {
  return names.map((name) => [name, 'number', ({ event }) => event[name]]);
}

/** Clients may send times with fractions of a millisecond. */
function microseconds(timeMs: number): bigint {
  return BigInt(Math.round(timeMs * 1_000));
}
