import type { Command } from 'commander';
import {
  type BillingState,
  changeSpace,
  createSpace,
  listSpaces,
  type Space,
  type SpaceChange,
} from '../lib/access/spaces.ts';
import { parseBillingState, parseEventLimit, parseId, parseName } from './arguments.ts';
import { noSuchSpace, withDatabase } from './database.ts';
import { type Host, printJson } from './host.ts';

interface SettingsOptions {
  monthlyEvents?: number | 'none';
  billing?: BillingState;
}

/** `space create`, `space set` and `space list` (design §4). */
export function addSpaceCommands(program: Command, host: Host): void {
  const space = program.command('space').description('spaces, their quota and billing state');

  addSettings(space.command('create').description('make a space'))
    .requiredOption('--name <name>', 'what people call it', parseName)
    .action((options: SettingsOptions & { name: string }) =>
      withDatabase(host, async (database) => {
        const { id } = await createSpace(database, options.name, readSettings(options));
        await printJson(host, { spaceId: id });
      }),
    );

  addSettings(space.command('set').description("change a space's quota or billing state"))
    .argument('<id>', 'the space')
    .action((id: string, options: SettingsOptions, command: Command) => {
      const change = readSettings(options);
      if (Object.keys(change).length === 0)
        command.error('error: nothing to set: give --monthly-events or --billing');
      return withDatabase(host, async (database) => {
        const spaceId = parseId('space', id);
        const changed = await changeSpace(database, spaceId, change);
        if (changed === undefined) throw noSuchSpace(spaceId);
        await printJson(host, showSpace(changed));
      });
    });

  space
    .command('list')
    .description('all spaces')
    .action(() =>
      withDatabase(host, async (database) => {
        await printJson(host, (await listSpaces(database)).map(showSpace));
      }),
    );
}

function addSettings(command: Command): Command {
  return command
    .option('--monthly-events <limit>', 'events a month, or none for no limit', parseEventLimit)
    .option('--billing <state>', 'active or inactive', parseBillingState);
}

function readSettings({ monthlyEvents, billing }: SettingsOptions): SpaceChange {
  return {
    ...(monthlyEvents !== undefined && {
      monthlyEventLimit: monthlyEvents === 'none' ? null : monthlyEvents,
    }),
    ...(billing !== undefined && { billingState: billing }),
  };
}

function showSpace({ id, ...space }: Space) {
  return { spaceId: id, ...space };
}
