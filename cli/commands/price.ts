import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { messageOf } from '../../platform/thrown.ts';
import { auditNow, operator } from '../../store/accounts/audit/audit.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import { noSpace } from '../../store/db/limits.ts';
import { type ImportedPrices, importListPrices } from '../../store/prices/list-prices.ts';
import { type PriceList, parsePriceList } from '../../store/prices/price-list.ts';
import {
  listPrices,
  type ModelPrice,
  removePrice,
  setPrice,
  spacePricesMax,
} from '../../store/prices/prices.ts';
import type { Rates } from '../../store/prices/rates.ts';
import { parseDay, parseName, parsePrice, parseRate } from '../arguments.ts';
import { requireSpace, withDatabase } from '../database.ts';
import { CommandError, findFile, type Host, printJson } from '../host.ts';

interface PriceOptions extends Pick<ModelPrice, 'model' | 'input' | 'output'> {
  space?: string;
  from: string;
  cacheRead?: string;
  cacheWrite?: string;
  rate: Rates;
}

interface ImportOptions {
  day?: string;
  print?: true;
  set?: true;
  space?: string;
  from: string;
}

export function addPriceCommands(program: Command, host: Host): void {
  const price = program
    .command('price')
    .description('prices of tokens by model, for charts: US dollars per million tokens');
  addSetCommand(price, host);
  addListCommand(price, host);
  addImportCommand(price, host);
  addRemoveCommand(price, host);
}

function addSetCommand(price: Command, host: Host): void {
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
    .option(
      '--rate <kind=dollars>',
      'price of another kind of usage, tier or size of the input, such as "input batch=1.25" or "cacheWriteHour=10"; repeatable',
      parseRate,
      {},
    )
    .action((options: PriceOptions) =>
      withDatabase(host, async (database) => {
        const spaceId = await readSpace(database, options.space);
        const { model, from: validFrom, input, output, cacheRead = null, cacheWrite = null, rate } = options;
        const set = { model, validFrom, input, output, cacheRead, cacheWrite, rates: rate };
        await setOne(database, spaceId, set);
        await printJson(host, { spaceId, ...set });
      }),
    );
}

function addListCommand(price: Command, host: Host): void {
  price
    .command('list')
    .description(
      'list the prices that were set for all spaces, or for one space; list prices are not included',
    )
    .option('--space <id>', 'the space')
    .action((options: { space?: string }) =>
      withDatabase(host, async (database) => {
        await printJson(host, await listPrices(database, await readSpace(database, options.space)));
      }),
    );
}

function addImportCommand(price: Command, host: Host): void {
  price
    .command('import')
    .description(
      "import list prices of providers' models, from LiteLLM's model_prices_and_context_window.json or Weir's format; prints what changed",
    )
    .argument('<file>', 'the file')
    .option('--day <day>', 'the day (UTC) of a list without one; by default today', parseDay)
    .option('--print', "print the list in Weir's format, and change nothing")
    .option('--set', 'set the prices as `price set` does, instead of importing list prices')
    .option('--from <day>', 'with --set: the first day (UTC) of the prices', parseDay, '1970-01-01')
    .option('--space <id>', 'with --set: the space of the prices')
    .action(async (file: string, options: ImportOptions) => {
      if (options.space !== undefined && !options.set) throw new CommandError('--space needs --set.');
      const list = await readList(host, file, options.day);
      if (options.print) return printJson(host, list);
      await withDatabase(host, async (database) => {
        if (options.set) return printJson(host, await setAll(database, list, options));
        await printJson(host, await importAudited(database, list));
      });
    });
}

function addRemoveCommand(price: Command, host: Host): void {
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

async function readList(host: Host, file: string, day = new Date().toISOString().slice(0, 10)) {
  const path = findFile(host, file);
  try {
    return parsePriceList(await readFile(path, 'utf8'), day);
  } catch (error) {
    throw new CommandError(`The price list ${path} cannot be read: ${messageOf(error)}`);
  }
}

function importAudited(database: Database, list: PriceList): Promise<ImportedPrices> {
  return database.transaction(async (transaction) => {
    const { source, day } = list;
    const imported = await importListPrices(transaction, list);
    const { added, changed } = imported;
    const details = { source, day, added: added.length, changed: changed.length };
    await auditNow(transaction, { spaceId: noSpace, actor: operator, action: 'price.import', details });
    return imported;
  });
}

/** Sets the prices of a file, all or none. */
async function setAll(database: Database, { prices }: PriceList, { space, from }: ImportOptions) {
  const spaceId = await readSpace(database, space);
  await database.transaction(async (transaction) => {
    for (const price of prices) await setOne(transaction, spaceId, { ...price, validFrom: from });
  });
  return { spaceId, validFrom: from, set: prices.length };
}

async function setOne(
  database: Database | Transaction,
  spaceId: string | null,
  price: ModelPrice,
): Promise<void> {
  if (await setPrice(database, { spaceId, actor: operator }, price)) return;
  throw new CommandError(`The space has ${spacePricesMax} prices of its own. Remove one first.`);
}

function addKey(command: Command): Command {
  return command
    .requiredOption('--model <name>', 'the model, as named in events', parseName)
    .option('--from <day>', 'the first day (UTC) of the price', parseDay, '1970-01-01')
    .option('--space <id>', 'the space of the price; by default all spaces without a price of their own');
}

async function readSpace(database: Database, space: string | undefined): Promise<string | null> {
  return space === undefined ? null : requireSpace(database, space);
}
