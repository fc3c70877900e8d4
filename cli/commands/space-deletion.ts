import type { Command } from 'commander';
import {
  deleteSpace,
  listDeletions,
  restoreSpace,
} from '../../operations/erasure-requests/space-deletion.ts';
import { operator } from '../../store/accounts/audit/audit.ts';
import { listSpaces, type Space } from '../../store/accounts/spaces.ts';
import type { Database } from '../../store/db/database.ts';
import { withDatabase } from '../database.ts';
import { CommandError, type Host, printJson, printMessage } from '../host.ts';

/** docs/data-lifecycle.md#deletion */
export function addDeletionCommands(space: Command, host: Host): void {
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
        if (deleted === undefined) throw noSuchSpace(named);
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
  if (space === undefined) throw noSuchSpace(named);
  if (others.length > 0)
    throw new CommandError(
      `${found.length} spaces have this name. Use an id: ${found.map(({ id }) => id).join(', ')}`,
    );
  return space;
}

function noSuchSpace(named: string): CommandError {
  return new CommandError(`There is no space ${JSON.stringify(named)}. \`space list\` lists all spaces.`);
}
