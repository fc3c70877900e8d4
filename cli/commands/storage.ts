import type { Command } from 'commander';
import { reportStorage } from '../../operations/storage/storage-report.ts';
import { readConfig, withDatabase } from '../database.ts';
import { type Host, printJson } from '../host.ts';

export function addStorageCommand(program: Command, host: Host): void {
  program
    .command('storage')
    .description('report stored data by week of receipt, and the next data to expire')
    .action(() =>
      withDatabase(host, async (database) => {
        await printJson(host, await reportStorage(database, readConfig(host).RETENTION_DAYS_MAX));
      }),
    );
}
