import { type Command, Option } from 'commander';
import { distributeDatabase, migrateDatabase, planMigration } from '../../store/migrate/migrate.ts';
import { wholeNumber } from '../arguments.ts';
import { requireDatabaseUrl } from '../database.ts';
import { type Host, printJson } from '../host.ts';

/** The most that Citus accepts. */
const shardsMax = 64_000;

/** `migrate`: for deployments without `weir start`, which migrates by itself (docs/cluster.md). */
export function addMigrateCommand(program: Command, host: Host): void {
  program
    .command('migrate')
    .description(
      "migrate the database to this version's schema; services of the previous version may run meanwhile",
    )
    .option('--plan', 'change nothing: print each step that is needed, and what it locks')
    .option('--citus', 'then distribute the tables over the workers of this Citus coordinator')
    .addOption(
      new Option(
        '--shards <number>',
        'with --citus: shards of each table (default: two a worker, at least 4)',
      )
        .argParser(wholeNumber(1, shardsMax))
        .implies({ citus: true }),
    )
    .action(async ({ plan, citus, shards }: { plan?: true; citus?: true; shards?: number }) => {
      const url = requireDatabaseUrl(host);
      if (plan) {
        for (const step of await planMigration(url)) await printJson(host, step);
        return;
      }
      await migrateDatabase(url);
      if (citus === undefined) return printJson(host, { migrated: true });
      const distributed = await distributeDatabase(url, shards);
      await printJson(host, { migrated: true, distributed });
    });
}
