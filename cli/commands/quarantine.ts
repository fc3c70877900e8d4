import type { Command } from 'commander';
import { listQuarantine } from '../../store/write/quarantine.ts';
import { replayQuarantined } from '../../store/write/replay.ts';
import { parseId } from '../arguments.ts';
import { requireSpace, withDatabase } from '../database.ts';
import { CommandError, type Host, printJson } from '../host.ts';

export function addQuarantineCommands(program: Command, host: Host): void {
  const quarantine = program
    .command('quarantine')
    .description('events that Postgres rejected, kept until they are replayed');

  quarantine
    .command('list')
    .description('list the quarantined events and their errors, oldest first')
    .option('--space <id>', 'only this space')
    .action((options: { space?: string }) =>
      withDatabase(host, async (database) => {
        const spaceId = options.space === undefined ? undefined : await requireSpace(database, options.space);
        await printJson(host, await listQuarantine(database, spaceId));
      }),
    );

  quarantine
    .command('replay')
    .description('store quarantined events, after the cause was fixed')
    .argument('[id...]', 'the entries; default: all')
    .action((texts: string[]) =>
      withDatabase(host, async (database) => {
        const ids = texts.map((text) => parseId('quarantine entry', text));
        const result = await replayQuarantined(database, ids.length === 0 ? {} : { ids });
        await printJson(host, result);
        const settled = new Set([...result.replayed, ...result.failed.map(({ id }) => id)]);
        const unknown = ids.filter((id) => !settled.has(id));
        if (unknown.length > 0) throw new CommandError(`Not in quarantine: ${unknown.join(', ')}.`);
        if (result.failed.length > 0) {
          throw new CommandError(`Rejected again, and still in quarantine: ${result.failed.length}.`);
        }
      }),
    );
}
