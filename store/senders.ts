import { and, desc, eq, lt, sql } from 'drizzle-orm';
import { dayMs } from '../platform/time.ts';
import type { Database } from './db/database.ts';
import { senders } from './db/schema.ts';
import { rowsOfKeptSpaces } from './write/deleted-spaces.ts';

/** What identifies a sender within its space. */
export type SenderName = Pick<SenderCounts, 'service' | 'scope' | 'version'>;

/** What became of the spans of one sender. Their sum is the number of its received spans. */
export interface SenderCounts {
  readonly service: string;
  readonly scope: string;
  readonly version: string;
  readonly sdk: string;
  stored: number;
  merged: number;
  leftOut: number;
  refused: number;
  refusal?: string | undefined;
}

export interface Sender extends SenderCounts {
  readonly lastSeenAt: Date;
}

/**
 * Most senders of a space. Names and versions come from programs, which may put anything into them; the
 * counts of further senders go to one row. Concurrent writers can exceed it by their number of new senders.
 */
export const sendersPerSpaceMax = 200;

/** A sender that was not seen for so long makes room for a new one. */
const forgottenAfterMs = 90 * dayMs;

/** The row for all senders beyond the limit. */
export const otherSenders = { service: 'other', scope: '', version: '', sdk: '' } as const;

export function keyOfSender({ service, scope, version }: SenderName): string {
  return JSON.stringify([service, scope, version]);
}

/** Adds counts to others of the same sender. The newer SDK and refusal replace the older ones. */
export function addCounts(to: SenderCounts, counts: SenderCounts): void {
  to.stored += counts.stored;
  to.merged += counts.merged;
  to.leftOut += counts.leftOut;
  to.refused += counts.refused;
  to.refusal = counts.refusal ?? to.refusal;
}

/**
 * Adds the counts of spans to the senders of a space.
 *
 * @param given each sender once.
 */
export async function recordSenders(
  database: Database,
  spaceId: string,
  given: readonly SenderCounts[],
): Promise<void> {
  if (given.length === 0) return;
  const rows = await placeSenders(database, spaceId, given);
  // The same order of locks in all ingests prevents deadlocks.
  const sorted = rows.toSorted((a, b) => (keyOfSender(a) < keyOfSender(b) ? -1 : 1));
  const excluded = (column: { name: string }) => sql`excluded.${sql.identifier(column.name)}`;
  await database
    .insert(senders)
    .select(
      rowsOfKeptSpaces(
        senders,
        sorted.map((row) => ({ ...row, spaceId, refusal: row.refusal ?? null, lastSeenAt: sql`now()` })),
      ),
    )
    .onConflictDoUpdate({
      target: [senders.spaceId, senders.service, senders.scope, senders.version],
      set: {
        sdk: excluded(senders.sdk),
        stored: sql`${senders.stored} + ${excluded(senders.stored)}`,
        merged: sql`${senders.merged} + ${excluded(senders.merged)}`,
        leftOut: sql`${senders.leftOut} + ${excluded(senders.leftOut)}`,
        refused: sql`${senders.refused} + ${excluded(senders.refused)}`,
        refusal: sql`coalesce(${excluded(senders.refusal)}, ${senders.refusal})`,
        // Not now(): Citus refuses functions that are not immutable here.
        lastSeenAt: excluded(senders.lastSeenAt),
      },
    });
}

/** Replaces new senders beyond the limit by {@link otherSenders}. */
async function placeSenders(
  database: Database,
  spaceId: string,
  given: readonly SenderCounts[],
): Promise<readonly SenderCounts[]> {
  const known = await readKeys(database, spaceId);
  const countNew = () => given.filter((one) => !known.has(keyOfSender(one))).length;
  if (known.size + countNew() <= sendersPerSpaceMax) return given;
  const forgotten = new Date(Date.now() - forgottenAfterMs);
  const gone = await database
    .delete(senders)
    .where(and(eq(senders.spaceId, spaceId), lt(senders.lastSeenAt, forgotten)))
    .returning();
  for (const one of gone) known.delete(keyOfSender(one));
  const placed: SenderCounts[] = [];
  const others: SenderCounts = { ...otherSenders, stored: 0, merged: 0, leftOut: 0, refused: 0 };
  for (const one of given) {
    const key = keyOfSender(one);
    const hasRoom = known.has(key) || known.size < sendersPerSpaceMax;
    if (hasRoom && key !== keyOfSender(others)) {
      known.add(key);
      placed.push(one);
    } else addCounts(others, one);
  }
  return countOf(others) > 0 ? [...placed, others] : placed;
}

async function readKeys(database: Database, spaceId: string): Promise<Set<string>> {
  const rows = await database.select().from(senders).where(eq(senders.spaceId, spaceId));
  return new Set(rows.map(keyOfSender));
}

function countOf({ stored, merged, leftOut, refused }: SenderCounts): number {
  return stored + merged + leftOut + refused;
}

/** The senders of a space, the last seen first. */
export async function listSenders(database: Database, spaceId: string): Promise<Sender[]> {
  const rows = await database
    .select()
    .from(senders)
    .where(eq(senders.spaceId, spaceId))
    .orderBy(desc(senders.lastSeenAt), senders.service, senders.scope, senders.version)
    .limit(2 * sendersPerSpaceMax);
  return rows.map(({ spaceId: _, refusal, ...row }) => ({ ...row, refusal: refusal ?? undefined }));
}
