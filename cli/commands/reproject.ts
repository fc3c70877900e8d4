import type { Command } from 'commander';
import { openPostgres } from '../../lib/db/connect.ts';
import { openDatabase } from '../../lib/db/database.ts';
import { reproject } from '../../operations/reproject/reproject.ts';
import { parseId } from '../arguments.ts';
import { requireDatabaseUrl, requireSpace } from '../database.ts';
import { type Host, printJson, printMessage } from '../host.ts';
import { eraseTimeoutMs } from '../limits.ts';

/** `reproject`: brings what is stored to this version (docs/reproject.md). */
export function addReprojectCommand(program: Command, host: Host): void {
  program
    .command('reproject')
    .description(
      'compute columns and terms of stored events again, after an upgrade; may be killed and run again',
    )
    .option('--space <id>', 'of this space only')
    .action(async (options: { space?: string }) => {
      const spaceId = options.space === undefined ? undefined : parseId('space', options.space);
      await using sql = openPostgres(requireDatabaseUrl(host), {
        applicationName: 'weir-cli-reproject',
        connectionsMax: 1,
        statementTimeoutMs: eraseTimeoutMs,
      });
      const database = openDatabase(sql);
      if (spaceId !== undefined) await requireSpace(database, spaceId);
      const result = await reproject(database, {
        spaceId,
        report: ({ segments }) =>
          printMessage(host, `${segments.toLocaleString('en')} segments computed again`),
      });
      await printJson(host, result);
    });
}
