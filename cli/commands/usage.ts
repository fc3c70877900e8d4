import type { Command } from 'commander';
import { readUsage } from '../../store/accounts/usage.ts';
import { parseId } from '../arguments.ts';
import { noSuchSpace, withDatabase } from '../database.ts';
import { type Host, printJson } from '../host.ts';

export function addUsageCommand(program: Command, host: Host): void {
  program
    .command('usage')
    .description("print a space's events of this month (UTC), and its limit")
    .requiredOption('--space <id>', 'the space')
    .action((options: { space: string }) =>
      withDatabase(host, async (database) => {
        const spaceId = parseId('space', options.space);
        const usage = await readUsage(database, spaceId);
        if (usage === undefined) throw noSuchSpace(spaceId);
        await printJson(host, usage);
      }),
    );
}
