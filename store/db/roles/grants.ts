import { is, type SQL, sql } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '../database.ts';
import { defaultEvents, defaultSegments } from '../partitions.ts';
import * as schema from '../schema.ts';
import { listOf, nameOf } from '../statement.ts';

/** What a role may do with a table, as GRANT names it. */
interface Right {
  readonly table: PgTable;
  readonly privileges: SQL;
}

const { apiKeys, media, spaces, usageDays, usageMonths } = schema;

const may = (privileges: string, ...tables: readonly PgTable[]): Right[] =>
  tables.map((table) => ({ table, privileges: sql.raw(privileges) }));

/** Looks up keys, quotas and which media are stored, and cannot read events or media. */
const ingestRights: readonly Right[] = [
  ...may('SELECT, INSERT, UPDATE, DELETE', schema.senders),
  ...may('SELECT', apiKeys, spaces, usageDays, usageMonths, schema.deletedSpaces),
  { table: apiKeys, privileges: sql`UPDATE (${nameOf(apiKeys.lastUsedAt)})` },
  {
    table: media,
    privileges: sql`SELECT (${listOf([media.spaceId, media.id, media.receivedAt].map(nameOf))})`,
  },
  { table: usageDays, privileges: sql`INSERT, UPDATE (${nameOf(usageDays.repeats)})` },
];

/** Stores replayed quarantined events, but changes or deletes neither stored ones nor audit entries. */
const dashboardRights: readonly Right[] = [
  ...may(
    'SELECT',
    schema.media,
    schema.listPrices,
    schema.senders,
    schema.storeDelays,
    schema.retentionClock,
  ),
  ...may('SELECT, INSERT', schema.events, schema.segments, schema.eventIds, schema.spaceCommits),
  ...may('SELECT, INSERT, UPDATE, DELETE', schema.alertTargets, schema.alertRules),
  ...may('SELECT, INSERT, UPDATE, DELETE', schema.alertEvents, schema.alertDeliveries),
  ...may('SELECT', schema.erasures, schema.deletedSpaces, schema.backups),
  // A writer erases what is requested. The deletion of a space can be taken back.
  ...may('SELECT, INSERT, UPDATE, DELETE', schema.erasureRequests),
  ...may('SELECT, INSERT', schema.auditLog, schema.identities),
  // Moves changes to the control stream. The triggers insert them with the rights of the owner.
  ...may('SELECT, DELETE', schema.controlChanges),
  ...may('SELECT, INSERT, UPDATE', schema.commitCounters, usageDays, usageMonths),
  ...may('SELECT', schema.eventStats, schema.eventStatsRollups, schema.agentStats, schema.agentStatsRollups),
  ...may('SELECT', schema.sliceStats, schema.sliceStatsRollups, schema.dimensions, schema.dimensionValues),
  ...may('SELECT, INSERT', schema.statisticDeltas),
  ...may('SELECT', schema.traceNodes, schema.traces, schema.eventChanges),
  // A replayed event and a note make their trace unresolved.
  ...may('INSERT', schema.traces),
  {
    table: schema.traces,
    privileges: sql`UPDATE (${listOf([schema.traces.version, schema.traces.unresolvedSince].map(nameOf))})`,
  },
  ...may('SELECT, INSERT, UPDATE', apiKeys, spaces, schema.users, schema.invitations),
  ...may(
    'SELECT, INSERT, UPDATE, DELETE',
    schema.memberships,
    schema.modelPrices,
    schema.quarantine,
    schema.notes,
    schema.views,
  ),
  ...may('SELECT, INSERT, UPDATE, DELETE', schema.sessions, schema.signInLinks),
  ...may('SELECT, INSERT, UPDATE, DELETE', schema.totpSecrets, schema.passkeys),
  ...may('SELECT, INSERT, DELETE', schema.recoveryCodes, schema.usedChallenges),
];

const allTables = listOf(Object.values(schema).flatMap((one) => (is(one, PgTable) ? sql`${one}` : [])));

const rightsByRole = { weir_ingest: ingestRights, weir_dashboard: dashboardRights };

/** Sets the rights of the roles of roles.sql. Without a role its service connects as the tables' owner. */
export async function grantRights(database: Database): Promise<void> {
  for (const [name, rights] of Object.entries(rightsByRole)) {
    const [role] = await database.execute<{ exists: boolean }>(
      sql`SELECT to_regrole(${name}) IS NOT NULL AS exists`,
    );
    if (role?.exists !== true) continue;
    const to = sql.identifier(name);
    await database.transaction(async (transaction) => {
      await transaction.execute(sql`REVOKE ALL ON ${allTables} FROM ${to}`);
      // A service reads the version of the schema when it starts.
      await transaction.execute(sql`GRANT USAGE ON SCHEMA drizzle TO ${to}`);
      await transaction.execute(sql`GRANT SELECT ON drizzle.__drizzle_migrations TO ${to}`);
      for (const { table, privileges } of rights)
        await transaction.execute(sql`GRANT ${privileges} ON ${table} TO ${to}`);
      // The doctor reads default partitions, which a right on the whole table does not include.
      if (rights === dashboardRights)
        await transaction.execute(
          sql`GRANT SELECT ON ${sql.identifier(defaultEvents)}, ${sql.identifier(defaultSegments)} TO ${to}`,
        );
    });
  }
}
