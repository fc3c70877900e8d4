import type { Command } from 'commander';
import { reproject } from '../../operations/reproject/reproject.ts';
import { openDatabase } from '../../store/db/database.ts';
import { openLongPool, requireSpace } from '../database.ts';
import { type Host, printJson, printMessage } from '../host.ts';
import { eraseTimeoutMs } from '../limits.ts';

/** docs/reproject.md */
export function addReprojectCommand(program: Command, host: Host): void {
  program
    .command('reproject')
    .description(
      'recompute columns and terms of stored events after an upgrade; can be interrupted and repeated',
    )
    .option('--space <id>', 'only this space')
    .action(async (options: { space?: string }) => {
      await using sql = openLongPool(host, { name: 'reproject', statementTimeoutMs: eraseTimeoutMs });
      const database = openDatabase(sql);
      const spaceId = options.space === undefined ? undefined : await requireSpace(database, options.space);
      const result = await reproject(database, {
        spaceId,
        report: ({ segments }) => printMessage(host, `${segments.toLocaleString('en')} segments recomputed`),
      });
      await printJson(host, result);
    });
}
