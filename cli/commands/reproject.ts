import type { Command } from 'commander';
import { reproject } from '../../operations/reproject/reproject.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import { parseId } from '../arguments.ts';
import { requireDatabaseUrl, requireSpace } from '../database.ts';
import { type Host, printJson, printMessage } from '../host.ts';
import { eraseTimeoutMs } from '../limits.ts';

/** `reproject`: recomputes columns and terms of stored events (docs/reproject.md). */
export function addReprojectCommand(program: Command, host: Host): void {
  program
    .command('reproject')
    .description(
      'recompute columns and terms of stored events after an upgrade; can be interrupted and repeated',
    )
    .option('--space <id>', 'only this space')
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
        report: ({ segments }) => printMessage(host, `${segments.toLocaleString('en')} segments recomputed`),
      });
      await printJson(host, result);
    });
}
