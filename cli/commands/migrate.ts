import { type Command, Option } from 'commander';
import { fillLedger } from '../../lib/db/ledger-fill.ts';
import { distributeDatabase, migrateDatabase } from '../../lib/db/migrate.ts';
import { wholeNumber } from '../arguments.ts';
import { requireDatabaseUrl } from '../database.ts';
import { type Host, printJson, printMessage } from '../host.ts';

/** Most shards that Citus takes. */
const shardsMax = 64_000;

/** `migrate`: for deployments without `npm start`, which migrates by itself (docs/cluster.md). */
export function addMigrateCommand(program: Command, host: Host): void {
  program
    .command('migrate')
    .description(
      "migrate the database to this version's schema; services of the version before may run meanwhile",
    )
    .option('--citus', 'then distribute the tables over the workers of this Citus coordinator')
    .addOption(
      new Option(
        '--shards <number>',
        'with --citus: shards of each table (default: two a worker, at least 4)',
      )
        .argParser(wholeNumber(1, shardsMax))
        .implies({ citus: true }),
    )
    .action(async ({ citus, shards }: { citus?: true; shards?: number }) => {
      const url = requireDatabaseUrl(host);
      await migrateDatabase(url);
      await fillLedger(url, {
        report: ({ copied, total }) =>
          printMessage(
            host,
            `${copied.toLocaleString('en')} of about ${total.toLocaleString('en')} ids are in the ledger`,
          ),
      });
      if (citus === undefined) return printJson(host, { migrated: true });
      const distributed = await distributeDatabase(url, shards);
      await printJson(host, { migrated: true, distributed });
    });
}
