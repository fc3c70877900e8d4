import type { Command } from 'commander';
import { readUsage } from '../lib/access/usage.ts';
import { parseId } from './arguments.ts';
import { noSuchSpace, withPostgres } from './database.ts';
import { type Host, printJson } from './host.ts';

/** `usage` (design §4). */
export function addUsageCommand(program: Command, host: Host): void {
  program
    .command('usage')
    .description("a space's events of this month (UTC), and its limit")
    .requiredOption('--space <id>', 'the space')
    .action((options: { space: string }) =>
      withPostgres(host, async (sql) => {
        const spaceId = parseId('space', options.space);
        const usage = await readUsage(sql, spaceId);
        if (usage === undefined) throw noSuchSpace(spaceId);
        await printJson(host, usage);
      }),
    );
}
