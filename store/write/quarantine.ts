import { createHash } from 'node:crypto';
import { and, asc, eq, sql } from 'drizzle-orm';
import { cutText, storableText } from '../../event/text.ts';
import { encodePart, type Part } from '../../platform/queue/group.ts';
import type { Database } from '../db/database.ts';
import { rowsOfKeptSpaces } from '../db/deleted-spaces.ts';
import { noSpace } from '../db/limits.ts';
import { eventIds, quarantine } from '../db/schema.ts';
import { type PermanentError, permanentErrorOf } from './permanent-error.ts';

/** Longest reason kept with an entry, in characters. */
const messageCharsMax = 1_000;

/**
 * Postgres permanently rejected an entry of the quarantine. Retries fail until an operator fixes the cause.
 */
export class QuarantineRefusedError extends Error {
  override name = 'QuarantineRefusedError';
  readonly sqlstate: string;

  constructor({ sqlstate, message }: PermanentError) {
    super(message);
    this.sqlstate = sqlstate;
  }
}

/**
 * Keeps an event that Postgres rejected, with its raw bytes, until an operator replays it. The event's own id
 * is the key: a redelivery or a client's retry adds no second entry. An event whose id is in the ledger is
 * not kept: it is stored, or it was erased from the quarantine, and is delivered again after a restore. An
 * event of a deleted space is dropped.
 * @param part of one event, well-formed. Its body holds this event and no other.
 * @throws QuarantineRefusedError when Postgres rejects the entry permanently; the driver's error for other
 * failures.
 */
export async function quarantineEvent(
  database: Database,
  part: Part,
  permanentError: PermanentError,
): Promise<void> {
  const { spaceId } = part;
  const id = part.columns?.id ?? '';
  if ((await database.$count(eventIds, and(eq(eventIds.spaceId, spaceId), eq(eventIds.id, id)))) > 0) return;
  await insertEntry(database, {
    ...permanentError,
    spaceId,
    id,
    receivedAt: new Date(Number(part.receivedAtMs)),
    part: Buffer.from(encodePart(part)),
  });
}

/**
 * Keeps the bytes of a message that is not a weir.queue.v1.Group: accepted data is never discarded. Throws as
 * quarantineEvent.
 */
export async function quarantineMessage(
  database: Database,
  bytes: Uint8Array,
  reason: unknown,
): Promise<void> {
  const hash = createHash('sha256').update(bytes).digest('hex');
  await insertEntry(database, {
    sqlstate: '',
    message: `not a queue message: ${String(reason)}`,
    spaceId: noSpace,
    id: `${hash.slice(0, 8)}-${hash.slice(8, 12)}-${hash.slice(12, 16)}-${hash.slice(16, 20)}-${hash.slice(20, 32)}`,
    receivedAt: new Date(),
    part: Buffer.from(bytes),
  });
}

type NewEntry = Omit<typeof quarantine.$inferSelect, 'eventCount' | 'quarantinedAt'>;

async function insertEntry(database: Database, entry: NewEntry): Promise<void> {
  const message = storableText(cutText(entry.message, messageCharsMax));
  try {
    const row = { ...entry, message, eventCount: 1, quarantinedAt: sql`now()` };
    await database
      .insert(quarantine)
      .select(rowsOfKeptSpaces(quarantine, [row]))
      .onConflictDoNothing()
      // As in the store statement: without it Citus reports a rejected row as an internal error.
      .returning({ id: quarantine.id });
  } catch (error) {
    const permanentError = permanentErrorOf(error);
    throw permanentError === undefined ? error : new QuarantineRefusedError(permanentError);
  }
}

/** The fields of an entry that an operator sees. `id` is the event's id; the event itself is not shown. */
export type QuarantineEntry = Omit<typeof quarantine.$inferSelect, 'part'>;

/** The oldest entries first, of one space or of all; without a page all of them. It begins after `after`. */
export async function listQuarantine(
  database: Database,
  spaceId?: string,
  page?: { after?: { quarantinedAt: Date; id: string } | undefined; limit: number },
): Promise<QuarantineEntry[]> {
  const { id, receivedAt, quarantinedAt, eventCount, sqlstate, message } = quarantine;
  const { after } = page ?? {};
  const query = database
    .select({ id, spaceId: quarantine.spaceId, receivedAt, quarantinedAt, eventCount, sqlstate, message })
    .from(quarantine)
    .where(
      and(
        spaceId === undefined ? undefined : eq(quarantine.spaceId, spaceId),
        after === undefined
          ? undefined
          : sql`(date_trunc('milliseconds', ${quarantinedAt}), ${id}) > (${after.quarantinedAt.toISOString()}::timestamptz, ${after.id}::uuid)`,
      ),
    )
    .orderBy(sql`date_trunc('milliseconds', ${quarantinedAt})`, asc(id));
  return page === undefined ? query : query.limit(page.limit);
}
