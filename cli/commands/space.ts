import type { Command } from 'commander';
import {
  type BillingState,
  changeSpace,
  createSpace,
  listSpaces,
  type Space,
  type SpaceChange,
} from '../../lib/accounts/spaces.ts';
import { parseBillingState, parseEventLimit, parseId, parseName, parseRetentionDays } from '../arguments.ts';
import { noSuchSpace, withDatabase } from '../database.ts';
import { type Host, printJson } from '../host.ts';

interface SettingsOptions {
  monthlyEvents?: number | 'none';
  billing?: BillingState;
  retentionDays?: number | 'none';
  plan?: string;
}

/** `space create`, `space set` and `space list`. */
export function addSpaceCommands(program: Command, host: Host): void {
  const space = program
    .command('space')
    .description('spaces, their quota, billing state, plan and retention');

  addSettings(space.command('create').description('create a space'))
    .requiredOption('--name <name>', 'what people call it', parseName)
    .action((options: SettingsOptions & { name: string }) =>
      withDatabase(host, async (database) => {
        const { id } = await createSpace(database, options.name, readSettings(options));
        await printJson(host, { spaceId: id });
      }),
    );

  addSettings(space.command('set').description("change a space's quota, billing state, plan or retention"))
    .argument('<id>', 'the space')
    .action((id: string, options: SettingsOptions, command: Command) => {
      const change = readSettings(options);
      if (Object.keys(change).length === 0)
        command.error('error: nothing to set: give --monthly-events, --billing, --plan or --retention-days');
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
    .option('--billing <state>', 'active or inactive', parseBillingState)
    .option('--plan <name>', 'what people call its plan, or none', parseName)
    .option(
      '--retention-days <days>',
      'days for which events are kept, or none for ever',
      parseRetentionDays,
    );
}

function readSettings({ monthlyEvents, billing, retentionDays, plan }: SettingsOptions): SpaceChange {
  return {
    ...(monthlyEvents !== undefined && {
      monthlyEventLimit: monthlyEvents === 'none' ? null : monthlyEvents,
    }),
    ...(plan !== undefined && { plan: plan === 'none' ? null : plan }),
    ...(billing !== undefined && { billingState: billing }),
    ...(retentionDays !== undefined && { retentionDays: retentionDays === 'none' ? null : retentionDays }),
  };
}

function showSpace({ id, ...space }: Space) {
  return { spaceId: id, ...space };
}
