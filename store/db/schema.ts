/** A table that grows leads its key with space_id, so that Citus can distribute it (docs/cluster.md). */
export * from './schema/accounts.ts';
export * from './schema/alerts.ts';
export * from './schema/backups.ts';
export * from './schema/erasures.ts';
export * from './schema/events.ts';
export * from './schema/memberships.ts';
export * from './schema/notes.ts';
export * from './schema/quarantine.ts';
export * from './schema/queue.ts';
export * from './schema/second-factors.ts';
export * from './schema/senders.ts';
export * from './schema/spaces.ts';
export * from './schema/statistics.ts';
export * from './schema/traces.ts';
export * from './schema/views.ts';
