import { createHash, randomUUIDv7 } from 'node:crypto';
import { type ColumnName, columnNames } from '../../lib/event/columns.ts';
import type { ColumnTexts } from '../../lib/event/projection.ts';
import { sharedSegmentBytesMax } from '../../lib/limits.ts';
import { encodeGroup, type PartInit } from '../../lib/queue/group.ts';
import { type AcceptedBatch, compressShared } from './accepted-batch.ts';

/** How many of the waiting batches go into one message of at most that many bytes: the first ones, at least one. */
export function takeGroup(waiting: readonly AcceptedBatch[], bytesMax: number): number {
  let bytes = 0;
  let count = 0;
  for (const batch of waiting) {
    bytes += queuedBytes(batch);
    if (count > 0 && bytes > bytesMax) break;
    count += 1;
  }
  return count;
}

/** The message for a group, and the id by which the broker knows it again (design §1.3). */
export function sealGroup(batches: readonly AcceptedBatch[]): { payload: Uint8Array; messageId: string } {
  const parts = shareSegments(batches).map(toPart);
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.spaceId}:${part.columns?.id};`);
  return { payload: encodeGroup(parts), messageId: hash.digest('base64url') };
}

/**
 * Which batches become one segment. Small ones of one key lie together: a segment a request would cost a row each,
 * and they compress many times better beside their like.
 */
function shareSegments(batches: readonly AcceptedBatch[]): AcceptedBatch[][] {
  const segments: AcceptedBatch[][] = [];
  const open = new Map<string, { batches: AcceptedBatch[]; bytes: number }>();
  for (const batch of batches) {
    const shared = batch.compressed === undefined ? open.get(batch.apiKeyId) : undefined;
    if (shared !== undefined && shared.bytes + batch.body.length <= sharedSegmentBytesMax) {
      shared.batches.push(batch);
      shared.bytes += batch.body.length;
      continue;
    }
    const segment = [batch];
    segments.push(segment);
    if (batch.compressed === undefined)
      open.set(batch.apiKeyId, { batches: segment, bytes: batch.body.length });
  }
  return segments;
}

function toPart(batches: readonly AcceptedBatch[]): PartInit {
  const [first] = batches;
  if (first === undefined) throw new Error('a segment of no batches');
  const eventCount = batches.reduce((sum, batch) => sum + batch.eventCount, 0);
  const body = batches.length === 1 ? first.body : Buffer.concat(batches.map((batch) => batch.body));
  return {
    spaceId: first.spaceId,
    apiKeyId: first.apiKeyId,
    receivedAtMs: BigInt(first.receivedAtMs),
    segmentId: randomUUIDv7(),
    eventCount,
    rawBytes: BigInt(body.length),
    columns: batches.length === 1 ? first.columns : joinColumns(batches, eventCount),
    body: first.compressed ?? compressShared(body),
  };
}

function joinColumns(batches: readonly AcceptedBatch[], eventCount: number): ColumnTexts {
  const joined = Object.fromEntries(
    columnNames.map((name) => [name, batches.map((batch) => batch.columns[name]).join(',')]),
  ) as ColumnTexts;
  // Each batch counted its events from 0: in the shared segment they go on.
  joined.segmentIndex = Array.from({ length: eventCount }, (_, index) => index).join(',');
  return joined;
}

function queuedBytes(batch: AcceptedBatch): number {
  let bytes = (batch.compressed ?? batch.body).length;
  // A UTF-16 code unit takes up to three bytes of UTF-8.
  for (const name of columnNames) bytes += 3 * batch.columns[name as ColumnName].length;
  return bytes;
}
