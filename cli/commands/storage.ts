import type { Command } from 'commander';
import { reportStorage } from '../../operations/storage/storage-report.ts';
import { readConfig, withDatabase } from '../database.ts';
import { type Host, printJson } from '../host.ts';

/** `storage`: what the database holds, and what expires next (docs/retention.md). */
export function addStorageCommand(program: Command, host: Host): void {
  program
    .command('storage')
    .description('what the database holds, by week of receipt, and what expires next')
    .action(() =>
      withDatabase(host, async (database) => {
        await printJson(host, await reportStorage(database, readConfig(host).RETENTION_DAYS_MAX));
      }),
    );
}
