import type { Command } from 'commander';
import { readConnection } from '../../launcher/local-system.ts';
import {
  deleteSpace,
  listDeletions,
  restoreSpace,
} from '../../operations/erasure-requests/space-deletion.ts';
import { operator } from '../../store/accounts/audit/audit.ts';
import { setRole } from '../../store/accounts/memberships.ts';
import {
  type BillingState,
  changeSpace,
  createSpace,
  listSpaces,
  type Space,
  type SpaceChange,
} from '../../store/accounts/spaces.ts';
import { findUserId } from '../../store/accounts/users.ts';
import type { Database } from '../../store/db/database.ts';
import {
  parseBillingState,
  parseEmail,
  parseEventLimit,
  parseId,
  parseName,
  parseRetentionDays,
} from '../arguments.ts';
import { noSuchSpace, readConfig, withDatabase } from '../database.ts';
import { CommandError, type Host, printJson, printMessage } from '../host.ts';

interface SettingsOptions {
  monthlyEvents?: number | 'none';
  billing?: BillingState;
  retentionDays?: number | 'none';
  plan?: string;
}

export function addSpaceCommands(program: Command, host: Host): void {
  const space = program
    .command('space')
    .description('spaces, their quota, billing state, plan and retention');

  addSettings(space.command('create').description('create a space'))
    .requiredOption('--name <name>', 'display name', parseName)
    .option('--owner <email>', 'the owner; by default the first user of `weir start`', parseEmail)
    .action((options: SettingsOptions & { name: string; owner?: string }) =>
      withDatabase(host, async (database) => {
        const owner = await findOwner(database, host, options.owner);
        const { id } = await createSpace(database, options.name, readSettings(options));
        if (owner !== undefined) await setRole(database, id, { userId: owner.userId, role: 'owner' });
        else if (host.stderr.isTTY)
          printMessage(
            host,
            `Nobody can open this space in the dashboard yet: weir user role --email E --space ${id} --role owner`,
          );
        await printJson(host, { spaceId: id, ...(owner && { owner: owner.email }) });
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
        const changed = await changeSpace(database, spaceId, { ...change });
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

  addDeletionCommands(space, host);
}

/**
 * The owner of a new space: the named user, or on the database of `weir start` its first user.
 * @throws CommandError when there is no such user.
 */
async function findOwner(
  database: Database,
  host: Host,
  named: string | undefined,
): Promise<{ userId: string; email: string } | undefined> {
  const { DATABASE_URL, WEIR_DATA_DIR } = readConfig(host);
  const local = readConnection(WEIR_DATA_DIR);
  const email = named ?? (local?.databaseUrl === DATABASE_URL ? local?.email : undefined);
  if (email === undefined) return undefined;
  const userId = await findUserId(database, email);
  if (userId === undefined && named !== undefined) throw new CommandError(`There is no user ${named}.`);
  return userId === undefined ? undefined : { userId, email };
}

function addSettings(command: Command): Command {
  return command
    .option('--monthly-events <limit>', 'events a month, or none for no limit', parseEventLimit)
    .option('--billing <state>', 'active or inactive', parseBillingState)
    .option('--plan <name>', 'name of the plan, or none', parseName)
    .option(
      '--retention-days <days>',
      'retention of events in days, or none for no limit',
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

/** docs/data-lifecycle.md#deletion */
function addDeletionCommands(space: Command, host: Host): void {
  space
    .command('delete')
    .description('delete a space with everything in it; without --yes, only say what would happen')
    .argument('<space>', 'its id or name')
    .option('--now', 'without the day in which it can be restored')
    .option('--yes', 'delete it')
    .action((named: string, { now, yes }: { now?: true; yes?: true }) =>
      withDatabase(host, async (database) => {
        const { id, name } = await findSpace(database, named);
        if (yes !== true) {
          const when =
            now === true ? 'At once, without a way back' : 'After a day, until which it can be restored';
          await printJson(host, { isPreview: true, spaceId: id, name });
          return printMessage(
            host,
            `The space is not deleted. With --yes its keys are refused and nobody can read it. ${when}, everything in it is deleted permanently.`,
          );
        }
        const deleted = await deleteSpace(database, id, {
          actor: operator,
          ...(now === true && { graceMs: 0 }),
        });
        if (deleted === undefined) throw noSuchSpace(JSON.stringify(named));
        await printJson(host, { spaceId: id, name, deleteAt: deleted.deleteAt });
      }),
    );

  space
    .command('restore')
    .description('take the deletion of a space back, until it begins')
    .argument('<space>', 'its id or name')
    .action((named: string) =>
      withDatabase(host, async (database) => {
        const { id, name } = await findSpace(database, named);
        if ((await restoreSpace(database, id, operator)) === undefined)
          throw new CommandError(`The space ${named} is not marked as deleted, or its deletion has begun.`);
        await printJson(host, { spaceId: id, name });
      }),
    );

  space
    .command('deletions')
    .description('deleted spaces: when they are due, their progress and their receipts')
    .action(() => withDatabase(host, async (database) => printJson(host, await listDeletions(database))));
}

/** @throws CommandError when no space, or several, have the name. */
async function findSpace(database: Database, named: string): Promise<Space> {
  const spaces = await listSpaces(database);
  const found = spaces.filter(({ id, name }) => id === named.toLowerCase() || name === named);
  const [space, ...others] = found;
  if (space === undefined) throw noSuchSpace(JSON.stringify(named));
  if (others.length > 0)
    throw new CommandError(
      `${found.length} spaces have this name. Use an id: ${found.map(({ id }) => id).join(', ')}`,
    );
  return space;
}
