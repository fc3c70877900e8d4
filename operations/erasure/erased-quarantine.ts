import { and, asc, eq, gt, sql } from 'drizzle-orm';
import { encodePart, type Part } from '../../platform/queue/group.ts';
import { inBoundedTransaction } from '../../store/db/bounded-transaction.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import { eventIds, quarantine } from '../../store/db/schema.ts';
import { statisticsTable } from './cluster/cluster-files.ts';
import { eraseAttached } from './erased-attachments.ts';
import { recordErased } from './erased-record.ts';
import { countErased, type Erasure } from './erasure-row.ts';
import { wasEntryAcceptedBefore } from './start.ts';
import { readPart, type WipedPart, wipePart } from './wiped-part.ts';

export interface ErasedQuarantine {
  readonly events: number;
  /** Entries of the space that cannot be decoded, so their users and threads are unknown. */
  readonly unreadable: number;
}

/** Replaces an entry's original Postgres error, which may quote erased events. */
const erasedMessage = 'some of its events were erased';

export interface QuarantineWipe {
  readonly spaceId: string;
  /** @returns undefined when the part has none of the events. */
  wipe(part: Part, quarantinedAt: Date): WipedPart | undefined;
  /** Records it in the transaction that changed the entry. */
  note(transaction: Transaction, wiped: WipedPart): Promise<void>;
}

/**
 * Erases the subject's events from a space's quarantine, one entry per transaction; the others stay
 * replayable. Erased ids go to the ledger: never stored before, a resend of them would be.
 */
export function eraseQuarantine(database: Database, erasure: Erasure): Promise<ErasedQuarantine> {
  return wipeQuarantine(database, {
    spaceId: erasure.spaceId,
    wipe(part, quarantinedAt) {
      const { queueStream, queueSequence } = part;
      if (!wasEntryAcceptedBefore(erasure.start, { quarantinedAt, queueStream, queueSequence }))
        return undefined;
      return wipePart(part, erasure.subject);
    },
    async note(transaction, { part, erasedIds }) {
      const gone = erasedIds.map((id) => ({ id }));
      const attached = await eraseAttached(transaction, erasure.spaceId, gone);
      await recordErased(transaction, erasure, {
        ids: [...attached.useIds, ...erasedIds],
        mediaIds: attached.mediaIds,
      });
      await countErased(transaction, erasure, {
        ...attached.counts,
        quarantineEvents: erasedIds.length,
        [part === undefined ? 'quarantineDeleted' : 'quarantineRewritten']: 1,
        unwritten: [...quarantineTables, ...attached.unwritten],
      });
    },
  });
}

/** The files to rewrite after a change of the quarantine. */
export const quarantineTables = ['quarantine', statisticsTable];

export async function wipeQuarantine(database: Database, wipe: QuarantineWipe): Promise<ErasedQuarantine> {
  const totals = { events: 0, unreadable: 0 };
  for (let after: string | undefined; ; ) {
    const [entry] = await database
      .select({ id: quarantine.id })
      .from(quarantine)
      .where(
        and(eq(quarantine.spaceId, wipe.spaceId), after === undefined ? undefined : gt(quarantine.id, after)),
      )
      .orderBy(asc(quarantine.id))
      .limit(1);
    if (entry === undefined) return totals;
    const erased = await inBoundedTransaction(database, (transaction) =>
      eraseEntry(transaction, wipe, entry.id),
    );
    if (erased === 'unreadable') totals.unreadable += 1;
    else totals.events += erased;
    after = entry.id;
  }
}

/** A replay locks the entry until its events are stored: they are found here or in their segment. */
async function eraseEntry(
  transaction: Transaction,
  { spaceId, wipe, note }: QuarantineWipe,
  id: string,
): Promise<number | 'unreadable'> {
  const isEntry = and(eq(quarantine.spaceId, spaceId), eq(quarantine.id, id));
  const [entry] = await transaction
    .select({ part: quarantine.part, quarantinedAt: quarantine.quarantinedAt })
    .from(quarantine)
    .where(isEntry)
    .for('update');
  if (entry === undefined) return 0;
  const queued = readPart(entry.part);
  if (queued === undefined) return 'unreadable';
  const wiped = wipe(queued, entry.quarantinedAt);
  if (wiped === undefined) return 0;
  const { part, erasedIds } = wiped;
  if (part === undefined) await transaction.delete(quarantine).where(isEntry);
  else {
    const { eventCount } = part;
    const changed = { part: Buffer.from(encodePart(part)), eventCount, message: erasedMessage };
    await transaction.update(quarantine).set(changed).where(isEntry);
  }
  if (erasedIds.length > 0)
    await transaction
      .insert(eventIds)
      .select(
        transaction
          .select({ spaceId: sql`${spaceId}::uuid`.as('space'), id: sql<string>`id`.as('event') })
          .from(sql`unnest(${`{${erasedIds.join()}}`}::uuid[]) AS id`),
      )
      .onConflictDoNothing();
  await note(transaction, wiped);
  return erasedIds.length;
}
