import { zstdCompressSync } from 'node:zlib';
import type { ByteWriter, ParquetWriter, SchemaElement } from 'hyparquet-writer';
import type { ExportedEvent, WholeExportedEvent } from '../events/export-rows.ts';
import { parquetGroupCharsMax, parquetGroupEventsMax } from './limits.ts';

/** Typed columns, and the whole event as it was sent in the column `event`. */

type Kind = 'text' | 'number' | 'time';

interface Column {
  name: string;
  kind: Kind;
  read(row: WholeExportedEvent): unknown;
}

/** Every column of an exported event, in output order. Times are in microseconds, UTC. */
const ofEvent: Record<keyof ExportedEvent, Column> = {
  id: plain('id', 'text'),
  type: plain('type', 'text'),
  state: plain('state', 'text'),
  name: plain('name', 'text'),
  source: plain('source', 'text'),
  traceId: plain('traceId', 'text'),
  threadId: plain('threadId', 'text'),
  agentId: plain('agentId', 'text'),
  agentGroupId: plain('agentGroupId', 'text'),
  userId: plain('userId', 'text'),
  startTimeMs: time('startTime', (event) => event.startTimeMs),
  endTimeMs: time('endTime', (event) => event.endTimeMs),
  durationMs: plain('durationMs', 'number'),
  inputTokens: plain('inputTokens', 'number'),
  outputTokens: plain('outputTokens', 'number'),
  totalTokens: plain('totalTokens', 'number'),
  cacheReadTokens: plain('cacheReadTokens', 'number'),
  cacheWriteTokens: plain('cacheWriteTokens', 'number'),
  reasoningTokens: plain('reasoningTokens', 'number'),
  usageParts: column('usageParts', 'text', ({ usageParts }) => usageParts && JSON.stringify(usageParts)),
  priceClass: plain('priceClass', 'text'),
  reportedCost: column('reportedCost', 'number', ({ reportedCost }) => reportedCost && Number(reportedCost)),
  // A number, to calculate with: NDJSON has the exact decimal.
  cost: column('cost', 'number', ({ cost }) => cost && Number(cost)),
  costBound: plain('costBound', 'text'),
  errorCode: plain('errorCode', 'text'),
  errorHttpStatus: plain('errorHttpStatus', 'text'),
  errorMessage: plain('errorMessage', 'text'),
  inputPreview: plain('inputPreview', 'text'),
  outputPreview: plain('outputPreview', 'text'),
  receivedAt: time('receivedAt', (event) => Date.parse(event.receivedAt)),
  flags: column('flags', 'text', ({ flags }) => flags.join(' ')),
  attributes: column('attributes', 'text', ({ attributes }) => attributes && JSON.stringify(attributes)),
  notes: column('notes', 'text', ({ notes }) => (notes.length === 0 ? null : JSON.stringify(notes))),
};

const columns: readonly Column[] = [
  ...Object.values(ofEvent),
  { name: 'event', kind: 'text', read: ({ text }) => text },
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
  ...columns.map(({ name, kind }) => ({ name, ...elements[kind] })),
];

/**
 * Yields a Parquet file in pieces, one row group at a time. Memory holds one group, and some 20 kB of each
 * earlier one for the end of the file: 5 MB for a gigabyte of events.
 * @param pages events, newest first.
 */
export async function* toParquet(pages: AsyncIterable<WholeExportedEvent[]>): AsyncGenerator<Buffer> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
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
    columnData: columns.map(({ name, kind, read }) => ({
      name,
      data: rows.map((row) => read(row) ?? undefined),
      offsetIndex: false,
      // In memory until the end. Readers use them to skip groups by time.
      statistics: kind !== 'text',
      // A dictionary of payloads would hold each of them a second time.
      ...(name === 'event' && { encoding: 'PLAIN' as const }),
    })),
    rowGroupSize: rows.length,
  });
  return takeBytes(writer);
}

/** Takes the bytes since the last call. The writer's `offset` keeps counting: the file refers to it. */
function takeBytes(writer: ByteWriter): Buffer {
  const bytes = Buffer.from(writer.getBytes());
  writer.index = 0;
  return bytes;
}

function column(name: string, kind: Kind, read: (event: ExportedEvent) => unknown): Column {
  return { name, kind, read: ({ event }) => read(event) };
}

function plain(name: keyof ExportedEvent, kind: 'text' | 'number'): Column {
  return column(name, kind, (event) => event[name]);
}

/** Clients may send times with fractions of a millisecond. */
function time(name: string, timeMsOf: (event: ExportedEvent) => number): Column {
  return column(name, 'time', (event) => BigInt(Math.round(timeMsOf(event) * 1_000)));
}
