import { zstdCompressSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import type { ColumnName } from '../event/columns.ts';
import { splitElements, unquoteElement } from '../event/text.ts';
import { decodePart, type Part } from '../queue/group.ts';
import { pickEvents } from '../write/slice.ts';
import { requireWellFormed } from '../write/well-formed.ts';
import { isOf, isOfElement, type Subject, subjectColumn } from './subject.ts';
import { wipeSegment } from './wiped-segment.ts';

export interface WipedPart {
  /** What is left; undefined when that is no event. */
  readonly part: Part | undefined;
  readonly erasedIds: readonly string[];
}

/**
 * Takes a subject's events out of a queued part: out of its columns and out of its segment.
 *
 * @returns undefined when it has none; `unreadable` when the bytes are no part.
 */
export function wipePart(bytes: Uint8Array, subject: Subject): WipedPart | 'unreadable' | undefined {
  let part: Part;
  try {
    part = decodePart(bytes);
    requireWellFormed(part);
  } catch {
    return 'unreadable';
  }
  const ofColumn = (name: ColumnName) => splitElements(part.columns?.[name] ?? '');
  const own = ofColumn(subjectColumn(subject));
  const isOwn = Array.from({ length: part.eventCount }, (_, at) =>
    isOfElement(subject, unquoteElement(own[at])),
  );
  const goneIndexes = new Set(
    ofColumn('segmentIndex')
      .filter((_, at) => isOwn[at])
      .map(Number),
  );
  const body = wipeBody(part, goneIndexes, subject);
  if (body === undefined && goneIndexes.size === 0) return undefined;
  const erasedIds = ofColumn('id').filter((_, at) => isOwn[at]);
  const left = pickEvents(part, (at) => isOwn[at] !== true);
  if (left.eventCount === 0) return { part: undefined, erasedIds };
  // The terms of the events that are left are computed when they are stored.
  return { part: create(PartSchema, { ...left, ...body, terms: '' }), erasedIds };
}

/** A segment that cannot be read is left without a text: it may hold what is erased, and nobody can read the others either. */
function wipeBody(
  part: Part,
  goneIndexes: ReadonlySet<number>,
  subject: Subject,
): { body: Uint8Array; rawBytes: bigint } | undefined {
  try {
    const stored = { body: Buffer.from(part.body), rawBytes: Number(part.rawBytes) };
    const wiped = wipeSegment(stored, (event, index) => goneIndexes.has(index) || isOf(subject, event));
    return wiped && { body: wiped.body, rawBytes: BigInt(wiped.rawBytes) };
  } catch {
    if (goneIndexes.size === 0) return undefined;
    const empty = Buffer.from('{"events":[]}');
    return { body: zstdCompressSync(empty), rawBytes: BigInt(empty.length) };
  }
}
