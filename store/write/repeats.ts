import { create } from '@bufbuild/protobuf';
import { and, eq, or, sql } from 'drizzle-orm';
import { PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import type { Part } from '../../platform/queue/group.ts';
import type { Database } from '../db/database.ts';
import { eventIds } from '../db/schema.ts';
import { pickColumns, pickEvents } from './slice.ts';
import { uuidChars } from './well-formed.ts';

/**
 * Events that are not new. A segment holds the texts of exactly those events that are stored with it (ADR
 * 0024), so when a part has new and known events, the known ones become a part of their own, without a body:
 * they are counted, not stored.
 */

/**
 * The positions, counted from 1 over all parts, of events whose id an earlier event of the same space has.
 * SQL would need a sort of all rows for it, and repeated ids are rare.
 * @param parts well-formed: their ids are UUIDs in lower case, of one length.
 */
export function findRepeatedIds(parts: readonly Part[]): number[] {
  const seenBySpace = new Map<string, Set<string>>();
  const repeated: number[] = [];
  let position = 0;
  for (const part of parts) {
    const seen = seenBySpace.get(part.spaceId) ?? new Set();
    seenBySpace.set(part.spaceId, seen);
    for (const id of idsOf(part)) {
      position += 1;
      if (seen.has(id)) repeated.push(position);
      else seen.add(id);
    }
  }
  return repeated;
}

/**
 * @param repeated from {@link findRepeatedIds}. @returns parts of the same events in the same order within
 * each part.
 */
export function separateRepeated(parts: readonly Part[], repeated: readonly number[]): Part[] {
  const positions = new Set(repeated);
  let before = 0;
  return parts.flatMap((part) => {
    const from = before + 1;
    before += part.eventCount;
    return separate(part, (at) => positions.has(from + at));
  });
}

/**
 * Separates the events whose ids the ledger has at this time.
 * @param parts well-formed.
 * @returns the same number of parts when no part has both new and known events.
 */
export async function separateKnown(database: Database, parts: readonly Part[]): Promise<Part[]> {
  const bySpace = Map.groupBy(parts, ({ spaceId }) => spaceId);
  const asked = [...bySpace].map(([spaceId, own]) =>
    and(
      eq(eventIds.spaceId, spaceId),
      sql`${eventIds.id} = ANY (${`{${own.flatMap((part) => [...idsOf(part)]).join()}}`}::uuid[])`,
    ),
  );
  const rows = await database
    .select({ spaceId: eventIds.spaceId, id: eventIds.id })
    .from(eventIds)
    .where(or(...asked));
  const known = new Set(rows.map(({ spaceId, id }) => `${spaceId}:${id}`));
  return parts.flatMap((part) => {
    const ids = [...idsOf(part)];
    return separate(part, (at) => known.has(`${part.spaceId}:${ids[at]}`));
  });
}

function separate(part: Part, isKnown: (at: number) => boolean): Part[] {
  const places = Array.from({ length: part.eventCount }, (_, at) => isKnown(at));
  // A part without new events needs no split: no segment is stored for it.
  if (places.every((known) => known === places[0])) return [part];
  const fresh = pickEvents(part, (at) => places[at] === false);
  const others = pickColumns(part, (at) => places[at] === true);
  return [fresh, create(PartSchema, { ...others, rawBytes: 0n, body: Buffer.alloc(0) })];
}

/** The ids of a part's events, in order. */
export function* idsOf({ columns }: Part): Generator<string> {
  const ids = columns?.id ?? '';
  for (let at = 0; at < ids.length; at += uuidChars + 1) yield ids.slice(at, at + uuidChars);
}
