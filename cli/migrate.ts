import type { Command } from 'commander';
import { migrateDatabase } from '../lib/db/migrate.ts';
import { requireDatabaseUrl } from './database.ts';
import { type Host, printJson } from './host.ts';

/** `migrate`: for who runs the services without `npm start`, which does it by itself (docs/cluster.md). */
export function addMigrateCommand(program: Command, host: Host): void {
  program
    .command('migrate')
    .description("bring the database to this version's schema, while services of the version before run")
    .action(async () => {
      await migrateDatabase(requireDatabaseUrl(host));
      await printJson(host, { migrated: true });
    });
}
