import { getTableName } from 'drizzle-orm';
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import * as schema from '../db/schema.ts';

/**
 * What the control stream has of each table (ADR 32). The test beside it has a reason for each other table.
 */

export interface LoggedTable {
  readonly table: PgTable;
  /** Default: all three. */
  readonly operations: readonly ('INSERT' | 'UPDATE' | 'DELETE')[];
  /** Changes of these alone are not logged: stamps of use, and states that are computed again. */
  readonly ignored: readonly PgColumn[];
  /** Ignored columns that the stream must not have. */
  readonly withheld: readonly PgColumn[];
}

const logged = (
  table: PgTable,
  {
    operations = ['INSERT', 'UPDATE', 'DELETE'],
    ignored = [],
    withheld = [],
  }: Partial<Omit<LoggedTable, 'table'>> = {},
): LoggedTable => ({ table, operations, ignored: [...ignored, ...withheld], withheld });

const { alertRules, apiKeys, erasureRequests, listPrices, passkeys, totpSecrets } = schema;

/** Referenced tables come before those that reference them. */
export const loggedTables: readonly LoggedTable[] = [
  logged(schema.users),
  logged(schema.spaces),
  logged(schema.identities),
  // A restore ends the sessions that were opened since: their users sign in again. The ended ones stay ended.
  logged(schema.sessions, { operations: ['DELETE'] }),
  logged(schema.signInLinks, { operations: ['INSERT', 'DELETE'] }),
  // A code is accepted for at most 90 seconds, so the last accepted step need not survive.
  logged(totpSecrets, { ignored: [totpSecrets.lastStep] }),
  logged(passkeys, { ignored: [passkeys.counter, passkeys.lastUsedAt] }),
  logged(schema.recoveryCodes),
  logged(apiKeys, { ignored: [apiKeys.lastUsedAt] }),
  logged(schema.memberships),
  logged(schema.views),
  logged(schema.invitations),
  logged(schema.auditLog),
  logged(schema.modelPrices),
  logged(listPrices, { ignored: [listPrices.listedOn, listPrices.source] }),
  logged(schema.alertTargets),
  logged(alertRules, {
    ignored: [
      alertRules.phase,
      alertRules.since,
      alertRules.value,
      alertRules.evaluatedUntil,
      alertRules.dueAt,
      alertRules.claimedUntil,
    ],
  }),
  logged(schema.deletedSpaces),
  logged(schema.erasures, { ignored: [schema.erasures.unwritten] }),
  // The value names the user: a restore finds it by the term. The ignored columns are a writer's progress.
  logged(erasureRequests, {
    operations: ['INSERT', 'DELETE'],
    ignored: [
      erasureRequests.startedAt,
      erasureRequests.expectedEvents,
      erasureRequests.progress,
      erasureRequests.failure,
      erasureRequests.attemptAt,
    ],
    withheld: [erasureRequests.value],
  }),
  logged(schema.queueCounts, { operations: ['INSERT'] }),
  // What has expired since expires in the first pass after a restore, which would be days behind otherwise.
  logged(schema.retentionClock, { operations: ['INSERT', 'UPDATE'] }),
];

export function keyOf(table: PgTable): PgColumn[] {
  const { primaryKeys, columns } = getTableConfig(table);
  const [composite] = primaryKeys;
  const key = composite === undefined ? columns.filter(({ primary }) => primary) : composite.columns;
  if (key.length === 0) throw new Error(`${getTableName(table)} has no primary key`);
  return key;
}

/** Drizzle's column objects of a key are not those of the table. */
export function isOfKey(table: PgTable, { name }: PgColumn): boolean {
  return keyOf(table).some((column) => column.name === name);
}
