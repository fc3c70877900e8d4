import { zstdCompressSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { and, eq } from 'drizzle-orm';
import { joinTexts } from '../../event/segment/batch-body.ts';
import { decompressSegment } from '../../event/segment/parsed-event.ts';
import { splitElements, unquoteElement } from '../../event/text.ts';
import { PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import { decodePart, type Part } from '../../platform/queue/group.ts';
import type { Database } from '../../store/db/database.ts';
import { quarantine } from '../../store/db/schema.ts';
import { pickEvents } from '../../store/write/slice.ts';
import { requireWellFormed } from '../../store/write/well-formed.ts';
import { isOfElement, type Subject, subjectColumn } from './subject.ts';

export interface WipedPart {
  /** The remaining part; undefined when no event is left. */
  readonly part: Part | undefined;
  readonly erasedIds: readonly string[];
}

/** @returns undefined when the bytes are not a part. */
export function readPart(bytes: Uint8Array): Part | undefined {
  try {
    const part = decodePart(bytes);
    requireWellFormed(part);
    return part;
  } catch {
    return undefined;
  }
}

/** The events in quarantine of a space that can be decoded, one entry in memory at a time. */
export async function* readQuarantined(database: Database, spaceId: string): AsyncGenerator<Part> {
  const ofSpace = eq(quarantine.spaceId, spaceId);
  for (const { id } of await database.select({ id: quarantine.id }).from(quarantine).where(ofSpace)) {
    const isEntry = and(ofSpace, eq(quarantine.id, id));
    const [entry] = await database.select({ part: quarantine.part }).from(quarantine).where(isEntry);
    const part = entry && readPart(entry.part);
    if (part !== undefined) yield part;
  }
}

/**
 * Removes a subject's events from a queued part's columns, and from its segment with one text per event.
 * @returns undefined when the part has no event of the subject.
 */
export function wipePart(part: Part, subject: Subject): WipedPart | undefined {
  const own = splitElements(part.columns?.[subjectColumn(subject)] ?? '');
  return wipeWhere(part, (at) => isOfElement(subject, unquoteElement(own[at])));
}

export function wipeIds(part: Part, ids: ReadonlySet<string>): WipedPart | undefined {
  const own = splitElements(part.columns?.id ?? '');
  return wipeWhere(part, (at) => ids.has(own[at] ?? ''));
}

function wipeWhere(part: Part, isErased: (at: number) => boolean): WipedPart | undefined {
  const isOwn = Array.from({ length: part.eventCount }, (_, at) => isErased(at));
  const erasedIds = splitElements(part.columns?.id ?? '').filter((_, at) => isOwn[at]);
  if (erasedIds.length === 0) return undefined;
  if (erasedIds.length === part.eventCount) return { part: undefined, erasedIds };
  return { part: pickEvents(readable(part), (at) => isOwn[at] !== true), erasedIds };
}

/** An unreadable segment loses all its texts, which may include erased ones. */
function readable(part: Part): Part {
  try {
    decompressSegment(part.body, Number(part.rawBytes));
    return part;
  } catch {
    const empty = joinTexts([]);
    return create(PartSchema, { ...part, body: zstdCompressSync(empty), rawBytes: BigInt(empty.length) });
  }
}
