import { createHash, randomUUIDv7 } from 'node:crypto';
import { columnNames } from '../../../event/columns.ts';
import { type ColumnTexts, projectionVersion } from '../../../event/projection.ts';
import type { BatchRange } from '../../../event/segment/batch-id.ts';
import { inSpace, unionTerms } from '../../../event/terms.ts';
import { encodeGroup, type PartInit } from '../../../platform/queue/group.ts';
import { type CompressedBatch, compressShared } from './compressed-batch.ts';

/** Most bytes of bodies in a shared segment: opening an event decompresses its whole segment. */
const sharedSegmentBytesMax = 4 * 1024 * 1024;

/** A message for the queue. */
export interface GroupMessage {
  payload: Uint8Array;
  /** JetStream deduplicates retries by this id (ADR 0002). */
  messageId: string;
  /** Where the events of each batch are. A batch of nodes has none. */
  ranges: ReadonlyMap<CompressedBatch, BatchRange>;
}

export function createMessage(batches: readonly CompressedBatch[]): GroupMessage {
  const ranges = new Map<CompressedBatch, BatchRange>();
  const parts = groupBySegment(batches.filter(({ nodes }) => nodes === undefined)).map((segment) => {
    const segmentId = randomUUIDv7();
    let first = 0;
    for (const batch of segment) {
      ranges.set(batch, { segmentId, first, last: first + batch.eventCount - 1 });
      first += batch.eventCount;
    }
    return toPart(segmentId, segment, first);
  });
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.spaceId}:${part.columns?.id};`);
  const traceNodes = batches.flatMap(({ spaceId, apiKeyId, receivedAtMs, nodes, notes = '', media }) =>
    nodes === undefined
      ? []
      : [
          {
            spaceId,
            receivedAtMs: BigInt(receivedAtMs),
            json: nodes,
            ...(notes !== '' && { notes, apiKeyId }),
            ...(media !== undefined && { media }),
          },
        ],
  );
  for (const { spaceId, json, notes = '', media } of traceNodes) {
    const upload = media === undefined ? '' : `${media.useId}:${media.data?.length ?? 0}`;
    hash.update(`${spaceId}:${json}${notes}${upload};`);
  }
  return { payload: encodeGroup(parts, traceNodes), messageId: hash.digest('base64url'), ranges };
}

/**
 * Groups the batches that become one segment. Small batches of one API key share a segment: separate segments
 * would cost a row each, and together the batches compress many times better.
 */
function groupBySegment(batches: readonly CompressedBatch[]): CompressedBatch[][] {
  const segments: CompressedBatch[][] = [];
  const open = new Map<string, { batches: CompressedBatch[]; bytes: number }>();
  for (const batch of batches) {
    const shared = batch.compressed === undefined ? open.get(batch.apiKeyId) : undefined;
    if (shared !== undefined && shared.bytes + batch.body.length <= sharedSegmentBytesMax) {
      shared.batches.push(batch);
      shared.bytes += batch.body.length;
      continue;
    }
    const segment = [batch];
    segments.push(segment);
    if (batch.compressed === undefined) {
      open.set(batch.apiKeyId, { batches: segment, bytes: batch.body.length });
    }
  }
  return segments;
}

function toPart(segmentId: string, batches: readonly CompressedBatch[], eventCount: number): PartInit {
  const [first] = batches;
  if (first === undefined) throw new Error('a segment of no batches');
  const { compressed = compressShared(batches.map(({ body }) => body)) } = first;
  return {
    spaceId: first.spaceId,
    apiKeyId: first.apiKeyId,
    receivedAtMs: BigInt(first.receivedAtMs),
    segmentId,
    eventCount,
    rawBytes: BigInt(batches.reduce((sum, { rawBytes }) => sum + rawBytes, 0)),
    columns: batches.length === 1 ? first.columns : joinColumns(batches, eventCount),
    body: compressed,
    projection: projectionVersion,
    terms: inSpace(first.spaceId, unionTerms(batches.map((batch) => batch.terms))).join(','),
  };
}

function joinColumns(batches: readonly CompressedBatch[], eventCount: number): ColumnTexts {
  const joined = Object.fromEntries(
    columnNames.map((name) => [name, batches.map((batch) => batch.columns[name]).join(',')]),
  ) as ColumnTexts;
  // The indexes of each batch start at 0; renumber them for the shared segment.
  joined.segmentIndex = Array.from({ length: eventCount }, (_, index) => index).join(',');
  return joined;
}
