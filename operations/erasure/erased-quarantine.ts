import { and, asc, eq, gt, sql } from 'drizzle-orm';
import { encodePart, type Part } from '../../platform/queue/group.ts';
import { inBoundedTransaction } from '../../store/db/bounded-transaction.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import { eventIds, quarantine } from '../../store/db/schema.ts';
import { statisticsTable } from './cluster/cluster-files.ts';
import { recordErased } from './erased-record.ts';
import { countErased, type Erasure } from './erasure-row.ts';
import { wasEntryAcceptedBefore } from './start.ts';
import { readPart, type WipedPart, wipePart } from './wiped-part.ts';

/** What one pass erased from the quarantine. */
export interface ErasedQuarantine {
  readonly events: number;
  /** Entries of the space that cannot be decoded, so their users and threads are unknown. */
  readonly unreadable: number;
}

/** Replaces the error text of an entry that lost events: the original Postgres error may quote them. */
const erasedMessage = 'some of its events were erased';

/** Which events are erased from the quarantine of a space. */
export interface QuarantineWipe {
  readonly spaceId: string;
  /** Removes the events from an entry's part. @returns undefined when it has none of them. */
  wipe(part: Part, quarantinedAt: Date): WipedPart | undefined;
  /** Records it in the transaction that changed the entry. */
  note(transaction: Transaction, wiped: WipedPart): Promise<void>;
}

/**
 * Erases the subject's events from the quarantine of a space, one entry per transaction. The other events of
 * an entry stay replayable. The ids of erased events are added to the ledger: they were never stored, and
 * without it a resend would be stored.
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
      await recordErased(transaction, erasure, { ids: erasedIds });
      await countErased(transaction, erasure, {
        quarantineEvents: erasedIds.length,
        [part === undefined ? 'quarantineDeleted' : 'quarantineRewritten']: 1,
        unwritten: quarantineTables,
      });
    },
  });
}

/** The tables whose files have to be rewritten after the quarantine was changed. */
export const quarantineTables = ['quarantine', statisticsTable];

/** Erases events from all entries of the quarantine of a space. */
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

/**
 * A replay locks the entry until its events are stored, so they are found either here or in their segment.
 */
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
