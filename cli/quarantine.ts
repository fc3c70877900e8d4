import type { Command } from 'commander';
import { listQuarantine } from '../lib/write/quarantine.ts';
import { replayQuarantined } from '../lib/write/replay.ts';
import { parseId } from './arguments.ts';
import { requireSpace, withPostgres } from './database.ts';
import { CommandFailure, type Host, printJson } from './host.ts';

/** `quarantine list` and `quarantine replay` (design §4). */
export function addQuarantineCommands(program: Command, host: Host): void {
  const quarantine = program
    .command('quarantine')
    .description('events that Postgres refused, kept until replayed');

  quarantine
    .command('list')
    .description('what is in quarantine and why, oldest first')
    .option('--space <id>', 'of this space only')
    .action((options: { space?: string }) =>
      withPostgres(host, async (sql) => {
        const spaceId = options.space === undefined ? undefined : parseId('space', options.space);
        if (spaceId !== undefined) await requireSpace(sql, spaceId);
        await printJson(host, await listQuarantine(sql, spaceId));
      }),
    );

  quarantine
    .command('replay')
    .description('store what is in quarantine, after the cause was mended')
    .argument('[id...]', 'which entries; all without')
    .action((texts: string[]) =>
      withPostgres(host, async (sql) => {
        const ids = texts.map((text) => parseId('quarantine entry', text));
        const result = await replayQuarantined(sql, ids.length === 0 ? undefined : ids);
        await printJson(host, result);
        const settled = new Set([...result.replayed, ...result.failed.map(({ id }) => id)]);
        const unknown = ids.filter((id) => !settled.has(id));
        if (unknown.length > 0) throw new CommandFailure(`Not in quarantine: ${unknown.join(', ')}.`);
        if (result.failed.length > 0) {
          throw new CommandFailure(`Refused again, and still in quarantine: ${result.failed.length}.`);
        }
      }),
    );
}
