import type { Command } from 'commander';
import { operator } from '../../lib/accounts/audit/audit.ts';
import type { Database } from '../../lib/db/database.ts';
import { listPrices, type ModelPrice, removePrice, setPrice } from '../../lib/prices/prices.ts';
import { parseDay, parseId, parseName, parsePrice } from '../arguments.ts';
import { requireSpace, withDatabase } from '../database.ts';
import { CommandError, type Host, printJson } from '../host.ts';

interface PriceOptions extends Pick<ModelPrice, 'model' | 'input' | 'output'> {
  space?: string;
  from: string;
  cacheRead?: string;
  cacheWrite?: string;
}

/** `price set`, `price list` and `price remove`. */
export function addPriceCommands(program: Command, host: Host): void {
  const price = program
    .command('price')
    .description('prices of tokens by model, for charts: US dollars per million tokens');

  addKey(price.command('set').description('set the price of a model from a day on'))
    .requiredOption('--input <dollars>', 'price of a million input tokens', parsePrice)
    .requiredOption('--output <dollars>', 'price of a million output tokens', parsePrice)
    .option(
      '--cache-read <dollars>',
      'price of a million input tokens read from a cache; by default the input price',
      parsePrice,
    )
    .option(
      '--cache-write <dollars>',
      'price of a million input tokens written to a cache; by default the input price',
      parsePrice,
    )
    .action((options: PriceOptions) =>
      withDatabase(host, async (database) => {
        const spaceId = await readSpace(database, options.space);
        const { model, from: validFrom, input, output, cacheRead = null, cacheWrite = null } = options;
        const set = { model, validFrom, input, output, cacheRead, cacheWrite };
        await setPrice(database, { spaceId, actor: operator }, set);
        await printJson(host, { spaceId, ...set });
      }),
    );

  price
    .command('list')
    .description('list the prices for all spaces, or the prices that apply to one space')
    .option('--space <id>', 'the space')
    .action((options: { space?: string }) =>
      withDatabase(host, async (database) => {
        await printJson(host, await listPrices(database, await readSpace(database, options.space)));
      }),
    );

  addKey(
    price.command('remove').description('remove the price of a model that was set from a day on'),
  ).action((options: PriceOptions) =>
    withDatabase(host, async (database) => {
      const spaceId = await readSpace(database, options.space);
      const removed = { model: options.model, validFrom: options.from };
      if (!(await removePrice(database, { spaceId, actor: operator }, removed))) {
        throw new CommandError(`There is no such price: ${removed.model}, from ${removed.validFrom}.`);
      }
      await printJson(host, { spaceId, ...removed });
    }),
  );
}

function addKey(command: Command): Command {
  return command
    .requiredOption('--model <name>', 'the model, as named in events', parseName)
    .option('--from <day>', 'the first day (UTC) of the price', parseDay, '1970-01-01')
    .option('--space <id>', 'the space of the price; by default all spaces without a price of their own');
}

async function readSpace(database: Database, space: string | undefined): Promise<string | null> {
  if (space === undefined) return null;
  const spaceId = parseId('space', space);
  await requireSpace(database, spaceId);
  return spaceId;
}
