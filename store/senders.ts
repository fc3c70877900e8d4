import { and, desc, eq, lt, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { dayMs } from '../platform/time.ts';
import type { Database } from './db/database.ts';
import { rowsOfKeptSpaces } from './db/deleted-spaces.ts';
import { senders } from './db/schema.ts';
import { excluded, listOf, nameOf, namesOf } from './db/statement.ts';

/** What identifies a sender within its space. */
export type SenderName = Pick<SenderCounts, 'service' | 'scope' | 'version'>;

/** What became of the spans of one sender. Their sum is the number of its received spans. */
export type SenderCounts = Omit<typeof senders.$inferSelect, 'spaceId' | 'refusal' | 'lastSeenAt'> & {
  refusal?: string | undefined;
};

export interface Sender extends SenderCounts {
  readonly lastSeenAt: Date;
}

/**
 * Most senders of a space. Names and versions come from programs, which may put anything into them; the
 * counts of further senders go to one row. Statements that run at the same time can exceed it by their new
 * senders.
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

/** Adds the counts of spans to the senders of a space. @param given each sender once. */
export async function recordSenders(
  database: Database,
  spaceId: string,
  given: readonly SenderCounts[],
): Promise<void> {
  if (given.length === 0) return;
  const ofSpace = eq(senders.spaceId, spaceId);
  if ((await database.$count(senders, ofSpace)) >= sendersPerSpaceMax) {
    const forgotten = new Date(Date.now() - forgottenAfterMs);
    await database.delete(senders).where(and(ofSpace, lt(senders.lastSeenAt, forgotten)));
  }
  const rows = given.map((row) => ({
    ...{ ...row, spaceId, refusal: row.refusal ?? null, lastSeenAt: sql`now()` },
  }));
  const key = [senders.service, senders.scope, senders.version];
  const keyOf = (table: SQL) => listOf(key.map((column) => sql`${table}.${nameOf(column)}`));
  const shared = (column: PgColumn, other: string) =>
    sql`CASE WHEN fits THEN ${nameOf(column)} ELSE ${other} END AS ${nameOf(column)}`;
  const sums = [senders.stored, senders.merged, senders.leftOut, senders.refused];
  const last = [senders.sdk, senders.refusal, senders.lastSeenAt];
  const sum = (column: PgColumn) => sql`sum(${nameOf(column)})::bigint`;
  // Rows are locked in the same order by all ingests, which prevents deadlocks. Citus refuses now() in the
  // update.
  await database.execute(sql`
WITH given AS (${rowsOfKeptSpaces(senders, rows)}),
known AS (SELECT ${namesOf(key)} FROM ${senders} WHERE ${ofSpace}),
placed AS (
  SELECT given.*, known.${nameOf(senders.service)} IS NOT NULL
    OR (SELECT count(*) FROM known) + row_number() OVER (PARTITION BY known.${nameOf(senders.service)} IS NULL) <= ${sendersPerSpaceMax} AS fits
  FROM given LEFT JOIN known ON (${keyOf(sql`given`)}) = (${keyOf(sql`known`)})),
named AS (
  SELECT ${nameOf(senders.spaceId)}, ${shared(senders.service, otherSenders.service)}, ${shared(senders.scope, '')},
    ${shared(senders.version, '')}, ${namesOf([...sums, ...last])}
  FROM placed)
INSERT INTO ${senders} AS stored (${namesOf([senders.spaceId, ...key, ...sums, ...last])})
SELECT ${namesOf([senders.spaceId, ...key])}, ${listOf(sums.map(sum))}, ${listOf(last.map((column) => sql`max(${nameOf(column)})`))}
FROM named GROUP BY ${namesOf([senders.spaceId, ...key])} ORDER BY ${namesOf(key)}
ON CONFLICT (${namesOf([senders.spaceId, ...key])}) DO UPDATE SET
  ${listOf(sums.map((column) => sql`${nameOf(column)} = stored.${nameOf(column)} + ${excluded(column)}`))},
  ${nameOf(senders.sdk)} = ${excluded(senders.sdk)}, ${nameOf(senders.lastSeenAt)} = ${excluded(senders.lastSeenAt)},
  ${nameOf(senders.refusal)} = coalesce(${excluded(senders.refusal)}, stored.${nameOf(senders.refusal)})`);
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
