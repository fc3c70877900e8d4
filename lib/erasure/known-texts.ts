import { randomUUIDv7 } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { and, eq, inArray } from 'drizzle-orm';
import { PartSchema } from '../../gen/weir/queue/v1/queue_pb.ts';
import type { Database } from '../db/database.ts';
import { erasures, eventIds } from '../db/schema.ts';
import { splitElements } from '../event/text.ts';
import type { Part } from '../queue/group.ts';
import { pickEvents } from '../write/slice.ts';
import { wipeSegment } from './wiped-segment.ts';

/**
 * Keeps what was erased from coming back. An erased event that is sent again gets no row, but its text would be stored in the
 * segment of the new events beside it. So in spaces that have erased anything, the texts of events that the ledger knows are
 * taken out of a segment before it is stored. All other spaces cost one look into a small table for each statement.
 *
 * @param parts well-formed, about to be stored.
 * @returns parts of the same events.
 */
export async function dropKnownTexts(database: Database, parts: readonly Part[]): Promise<Part[]> {
  const spaceIds = [...new Set(parts.map((part) => part.spaceId))];
  const found = await database
    .selectDistinct({ spaceId: erasures.spaceId })
    .from(erasures)
    .where(inArray(erasures.spaceId, spaceIds));
  const erasing = new Set(found.map(({ spaceId }) => spaceId));
  const dropped: Part[] = [];
  for (const part of parts) {
    dropped.push(...(erasing.has(part.spaceId) ? await dropFromPart(database, part) : [part]));
  }
  return dropped;
}

async function dropFromPart(database: Database, part: Part): Promise<Part[]> {
  const ids = splitElements(part.columns?.id ?? '');
  const rows = await database
    .select({ id: eventIds.id })
    .from(eventIds)
    .where(and(eq(eventIds.spaceId, part.spaceId), inArray(eventIds.id, ids)));
  const known = new Set(rows.map(({ id }) => id));
  // Of a part without new events no segment is stored.
  if (known.size === 0 || known.size === new Set(ids).size) return [part];
  const isKnown = (at: number) => known.has(ids[at] ?? '');
  const wiped = wipeKnown(part, known, isKnown);
  if (wiped === undefined) return [part];
  const left = pickEvents(part, (at) => !isKnown(at));
  const repeated = pickEvents(part, isKnown);
  return [
    // The terms of the events that are left are computed when they are stored.
    create(PartSchema, { ...left, body: wiped.body, rawBytes: BigInt(wiped.rawBytes), terms: '' }),
    // Counted as repeats, and stored nowhere. A segment of its own, so that its terms are not those of the others.
    create(PartSchema, { ...repeated, segmentId: randomUUIDv7(), terms: '' }),
  ];
}

function wipeKnown(part: Part, known: ReadonlySet<string>, isKnown: (at: number) => boolean) {
  const indexes = splitElements(part.columns?.segmentIndex ?? '').map(Number);
  const gone = new Set(indexes.filter((_, at) => isKnown(at)));
  try {
    const stored = { body: Buffer.from(part.body), rawBytes: Number(part.rawBytes) };
    // Of two events with one id in a request one alone is in the columns.
    return wipeSegment(stored, ({ id }, index) => gone.has(index) || known.has(String(id).toLowerCase()));
  } catch {
    // A segment that cannot be read shows nobody a text.
    return undefined;
  }
}
