import type { Command } from 'commander';
import { type ApiKeyInfo, issueApiKey, listApiKeys, revokeApiKey } from '../lib/access/api-keys.ts';
import { parseId, parseName } from './arguments.ts';
import { readPepper, requireSpace, withDatabase } from './database.ts';
import { CommandFailure, type Host, printJson } from './host.ts';

/** `key create`, `key revoke` and `key list` (design §4). */
export function addKeyCommands(program: Command, host: Host): void {
  const key = program.command('key').description('API keys of a space');

  key
    .command('create')
    .description('make an API key; it is shown once')
    .requiredOption('--space <id>', 'the space whose events it brings')
    .option('--name <name>', 'what people call it', parseName, 'command line')
    .action((options: { space: string; name: string }) =>
      withDatabase(host, async (database, sql) => {
        const spaceId = parseId('space', options.space);
        await requireSpace(sql, spaceId);
        const pepper = readPepper(host);
        await printJson(host, await issueApiKey(database, spaceId, { name: options.name, pepper }));
      }),
    );

  key
    .command('revoke')
    .description('refuse an API key from now on')
    .argument('<keyId>', 'the keyId that `key create` and `key list` show')
    .action((text: string) =>
      withDatabase(host, async (database) => {
        const keyId = parseId('key', text);
        const revoked = await revokeApiKey(database, keyId);
        if (revoked === undefined) throw new CommandFailure(`There is no key ${keyId}.`);
        await printJson(host, showKey(revoked));
      }),
    );

  key
    .command('list')
    .description("a space's API keys, revoked ones too")
    .requiredOption('--space <id>', 'the space')
    .action((options: { space: string }) =>
      withDatabase(host, async (database, sql) => {
        const spaceId = parseId('space', options.space);
        await requireSpace(sql, spaceId);
        await printJson(host, (await listApiKeys(database, spaceId)).map(showKey));
      }),
    );
}

function showKey({ id, ...key }: ApiKeyInfo) {
  return { keyId: id, ...key };
}
