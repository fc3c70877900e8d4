import type { Command } from 'commander';
import { type ApiKeyInfo, issueApiKey, listApiKeys, revokeApiKey } from '../../lib/accounts/api-keys.ts';
import { parseId, parseName } from '../arguments.ts';
import { readPepper, requireSpace, withDatabase } from '../database.ts';
import { CommandError, type Host, printJson } from '../host.ts';

/** `key create`, `key revoke` and `key list`. */
export function addKeyCommands(program: Command, host: Host): void {
  const key = program.command('key').description('API keys of a space');

  key
    .command('create')
    .description('create an API key; it is shown once')
    .requiredOption('--space <id>', 'the space that it sends events to')
    .option('--name <name>', 'display name', parseName, 'command line')
    .action((options: { space: string; name: string }) =>
      withDatabase(host, async (database) => {
        const spaceId = parseId('space', options.space);
        await requireSpace(database, spaceId);
        const pepper = readPepper(host);
        await printJson(host, await issueApiKey(database, spaceId, { name: options.name, pepper }));
      }),
    );

  key
    .command('revoke')
    .description('revoke an API key; ingest rejects it within a second')
    .argument('<keyId>', 'the keyId that `key create` and `key list` print')
    .action((text: string) =>
      withDatabase(host, async (database) => {
        const keyId = parseId('key', text);
        const revoked = await revokeApiKey(database, keyId);
        if (revoked === undefined) throw new CommandError(`There is no key ${keyId}.`);
        await printJson(host, showKey(revoked));
      }),
    );

  key
    .command('list')
    .description("list a space's API keys, including revoked ones")
    .requiredOption('--space <id>', 'the space')
    .action((options: { space: string }) =>
      withDatabase(host, async (database) => {
        const spaceId = parseId('space', options.space);
        await requireSpace(database, spaceId);
        await printJson(host, (await listApiKeys(database, spaceId)).map(showKey));
      }),
    );
}

function showKey({ id, ...key }: ApiKeyInfo) {
  return { keyId: id, ...key };
}
