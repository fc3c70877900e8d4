import { getTableName } from 'drizzle-orm';
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import * as schema from '../db/schema.ts';

/** What the control stream has of each table (ADR 32): a test requires it to be in one of the two lists. */

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
];

const ofEvents = 'The queue delivers the events again, and an erasure logs the ids of erased ones.';
const ofDimensions = 'Writers keep them as `spaces` says, and count what is stored.';
const ofAlerts = 'The rules are evaluated again; an alert may be sent a second time.';

/** The tables that the control stream does not have, with the reason. */
export const unloggedTables: ReadonlyMap<PgTable, string> = new Map<PgTable, string>([
  [schema.eventIds, ofEvents],
  [schema.events, ofEvents],
  [schema.segments, ofEvents],
  [schema.commitCounters, ofEvents],
  [schema.spaceCommits, ofEvents],
  [schema.eventChanges, ofEvents],
  [schema.eventStats, ofEvents],
  [schema.agentStats, ofEvents],
  [schema.eventStatsRollups, ofEvents],
  [schema.agentStatsRollups, ofEvents],
  [schema.sliceStats, ofEvents],
  [schema.sliceStatsRollups, ofEvents],
  [schema.statisticDeltas, ofEvents],
  [schema.dimensions, ofDimensions],
  [schema.dimensionValues, ofDimensions],
  [schema.storeDelays, ofEvents],
  [schema.storeDelayPositions, ofEvents],
  [schema.usageMonths, ofEvents],
  [schema.usageDays, ofEvents],
  [schema.traceNodes, ofEvents],
  [schema.traces, ofEvents],
  [
    schema.quarantine,
    'Rejected events are rejected again. An entry that was replayed is back, and can be replayed again.',
  ],
  [
    schema.notes,
    'Programs write many. A restore has those of its time, and the queue delivers those of OpenTelemetry again.',
  ],
  [schema.senders, 'Counts of requests, for the page Senders only.'],
  [schema.retentionClock, 'Each pass of retention sets it.'],
  [schema.usedChallenges, 'A challenge is refused because of its age minutes later.'],
  [schema.alertEvents, ofAlerts],
  [schema.alertDeliveries, ofAlerts],
  [schema.queuePositions, 'Where the replay of the queue begins: it is of the restored state.'],
  [schema.backups, 'The next backup brings it up to date with the directory of backups.'],
  [schema.controlChanges, 'It is the log itself.'],
]);

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
