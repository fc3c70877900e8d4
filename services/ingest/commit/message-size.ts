import { type ColumnName, columnNames } from '../../../event/columns.ts';
import type { ColumnTexts } from '../../../event/projection.ts';
import { joinEvents, listEvents } from '../../../event/segment/cut.ts';
import { splitElements } from '../../../event/text.ts';
import { type CompressedBatch, compressBody } from './compressed-batch.ts';

/**
 * Size of a batch in a message without its body and its columns: ids, numbers and field headers take some 350
 * bytes, and zstd adds up to 256 to a small body that does not compress.
 */
const partOverheadBytes = 768;

/** Largest size of a term as text: a sign, 19 digits and a comma. */
const termBytes = 21;

/** How many of the first waiting batches fit into one message; at least one. */
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

/** Whether a batch fits into one message. A batch that shares a segment always does. */
export function fitsMessage(batch: CompressedBatch, messageBytesMax: number): boolean {
  if (batch.compressed === undefined) return true;
  // The cheap estimate first.
  return estimateBytes(batch) <= messageBytesMax || measureBytes(batch) <= messageBytesMax;
}

/**
 * Splits a batch that is too large for one message into several, in the order of its events. Each part has
 * its own segment with its events only: messages are stored at different times, and an erasure may begin
 * between them. A retry is split in the same way, so that the queue recognises it.
 *
 * The columns of a batch can take twice the bytes of its body (500 events of quotes or of U+0000), and the
 * JSON of an RPC's batch compresses to 5.3 MB in the worst case (random control characters, ADR 0010).
 */
export async function splitBatch(
  batch: CompressedBatch,
  messageBytesMax: number,
): Promise<readonly CompressedBatch[]> {
  const ranges = listEvents(batch.body);
  const elements = columnNames.map((name) => splitElements(batch.columns[name]));
  const pieces: CompressedBatch[] = [];
  const cut = async (from: number, to: number): Promise<void> => {
    const raw = joinEvents(batch.body, ranges.slice(from, to));
    const eventCount = to - from;
    const own = { rawBytes: raw.length, compressed: await compressBody(raw) };
    const piece = { ...batch, ...own, eventCount, columns: sliceColumns(elements, from, to) };
    if (eventCount === 1 || fitsMessage(piece, messageBytesMax)) {
      pieces.push(piece);
      return;
    }
    const middle = from + (eventCount >> 1);
    await cut(from, middle);
    await cut(middle, to);
  };
  const middle = batch.eventCount >> 1;
  if (middle > 0) await cut(0, middle);
  await cut(middle, batch.eventCount);
  return pieces;
}

/** An upper bound of the batch's size in a message: a UTF-16 code unit takes up to three bytes of UTF-8. */
function estimateBytes(batch: CompressedBatch): number {
  let chars = (batch.nodes?.length ?? 0) + (batch.notes?.length ?? 0);
  for (const name of columnNames) chars += batch.columns[name].length;
  return overheadBytes(batch) + 3 * chars;
}

/** Bytes of a batch in a message, from the exact sizes in UTF-8. */
function measureBytes(batch: CompressedBatch): number {
  let bytes = 0;
  for (const name of columnNames) bytes += Buffer.byteLength(batch.columns[name]);
  return overheadBytes(batch) + bytes;
}

/** The size of a batch in a message without its columns. */
function overheadBytes({ compressed, body, terms }: CompressedBatch): number {
  return (compressed ?? body).length + terms.length * termBytes + partOverheadBytes;
}

function sliceColumns(elements: readonly string[][], from: number, to: number): ColumnTexts {
  const slices = columnNames.map((name, i): [ColumnName, string] => [
    name,
    elements[i]?.slice(from, to).join(',') ?? '',
  ]);
  const columns = Object.fromEntries(slices) as ColumnTexts;
  // Renumber the events for their own segment.
  columns.segmentIndex = Array.from({ length: to - from }, (_, index) => index).join(',');
  return columns;
}
