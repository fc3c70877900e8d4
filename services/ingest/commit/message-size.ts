import { randomUUIDv7 } from 'node:crypto';
import { type ColumnName, columnNames } from '../../../lib/event/columns.ts';
import type { ColumnTexts } from '../../../lib/event/projection.ts';
import { splitElements } from '../../../lib/event/text.ts';
import type { CompressedBatch } from './compressed-batch.ts';

/**
 * What a batch takes in a message beside its body and its columns: ids, numbers and field headers take some 350 bytes, and
 * zstd adds up to 256 to a small body that does not compress.
 */
const partOverheadBytes = 768;

/** A term as text: a sign, 19 digits and a comma. */
const termBytes = 21;

/** How many of the waiting batches go into one message of at most that many bytes: the first ones, at least one. */
export function countFitting(waiting: readonly CompressedBatch[], messageBytesMax: number): number {
  let bytes = 0;
  let count = 0;
  for (const batch of waiting) {
    bytes += estimateBytes(batch);
    if (count > 0 && bytes > messageBytesMax) break;
    count += 1;
  }
  return count;
}

/**
 * Splits a batch that is too large for one message into several, in the order of its events. Each carries the whole body
 * and all terms, under one segment id: whichever is stored first stores the segment, and each alone is complete.
 *
 * The columns of a batch can take twice the bytes of its body (500 events of quotes or of U+0000), and the JSON of an RPC's
 * batch compresses to 5.3 MB in the worst case (random control characters, ADR 0010).
 */
export function splitBatch(batch: CompressedBatch, messageBytesMax: number): readonly CompressedBatch[] {
  // A batch that shares a segment is far smaller than any message, and its pieces would be taken for batches.
  if (batch.compressed === undefined || estimateBytes(batch) <= messageBytesMax) return [batch];
  const elements = columnNames.map((name) => splitElements(batch.columns[name]));
  const columnsBytesMax = messageBytesMax - bodyBytes(batch) - termsBytes(batch) - partOverheadBytes;
  const segmentId = randomUUIDv7();
  const pieces: CompressedBatch[] = [];
  for (let from = 0; from < batch.eventCount; ) {
    let to = from;
    for (let bytes = 0; to < batch.eventCount; to++) {
      bytes += eventBytes(elements, to);
      if (to > from && bytes > columnsBytesMax) break;
    }
    pieces.push({ ...batch, segmentId, eventCount: to - from, columns: sliceColumns(elements, from, to) });
    from = to;
  }
  return pieces;
}

/** At least as many bytes as the batch takes in a message. A UTF-16 code unit takes up to three bytes of UTF-8. */
function estimateBytes(batch: CompressedBatch): number {
  let chars = 0;
  for (const name of columnNames) chars += batch.columns[name].length;
  return bodyBytes(batch) + termsBytes(batch) + partOverheadBytes + 3 * chars;
}

function termsBytes({ terms }: CompressedBatch): number {
  return terms.length * termBytes;
}

function bodyBytes({ compressed, body }: CompressedBatch): number {
  return (compressed ?? body).length;
}

/** What the columns of one event take, with their commas. */
function eventBytes(elements: readonly string[][], index: number): number {
  let bytes = 0;
  for (const column of elements) bytes += Buffer.byteLength(column[index] ?? '') + 1;
  return bytes;
}

function sliceColumns(elements: readonly string[][], from: number, to: number): ColumnTexts {
  const slices = columnNames.map((name, i): [ColumnName, string] => [
    name,
    elements[i]?.slice(from, to).join(',') ?? '',
  ]);
  return Object.fromEntries(slices) as ColumnTexts;
}
