import { getTableName, is } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import * as schema from '../db/schema.ts';
import { loggedTables } from './logged-tables.ts';

const ofEvents = 'The queue delivers the events again, and an erasure logs the ids of erased ones.';
const ofDimensions = 'Writers keep them as `spaces` says, and count what is stored.';
const ofAlerts = 'The rules are evaluated again; an alert may be sent a second time.';

/** The tables that the control stream does not have, with the reason. */
const unloggedTables: ReadonlyMap<PgTable, string> = new Map<PgTable, string>([
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
  [schema.media, ofEvents],
  [schema.mediaUses, ofEvents],
  [schema.senders, 'Counts of requests, for the page Senders only.'],
  [schema.usedChallenges, 'A challenge is refused because of its age minutes later.'],
  [schema.alertEvents, ofAlerts],
  [schema.alertDeliveries, ofAlerts],
  [schema.queuePositions, 'Where the replay of the queue begins: it is of the restored state.'],
  [schema.backups, 'The next backup brings it up to date with the directory of backups.'],
  [schema.controlChanges, 'It is the log itself.'],
]);

test('the control stream has every table, or a reason why not; parents come first', () => {
  const tables = Object.values(schema).filter((one) => is(one, PgTable));
  expect(tables.length).toBeGreaterThan(30);
  const named = [...loggedTables.map(({ table }) => table), ...unloggedTables.keys()].map(getTableName);
  expect(named.toSorted()).toEqual(tables.map(getTableName).toSorted());
  for (const [at, { table }] of loggedTables.entries())
    for (const key of getTableConfig(table).foreignKeys) {
      const parent = loggedTables.findIndex((one) => one.table === key.reference().foreignTable);
      expect(parent, getTableName(table)).toBeLessThan(at);
      expect(parent).toBeGreaterThanOrEqual(0);
    }
});
