import { type Command, Option } from 'commander';
import { type ApiKeyInfo, issueApiKey, listApiKeys, revokeApiKey } from '../../store/accounts/api-keys.ts';
import { type ReadScope, readScopes } from '../../store/accounts/key-scope.ts';
import { parseId, parseName, parseTime } from '../arguments.ts';
import { readPepper, requireSpace, withDatabase } from '../database.ts';
import { CommandError, type Host, printJson } from '../host.ts';

export function addKeyCommands(program: Command, host: Host): void {
  const key = program.command('key').description('API keys of a space');
  addCreateCommand(key, host);

  key
    .command('revoke')
    .description('revoke an API key; it is rejected within a second')
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
        const spaceId = await requireSpace(database, options.space);
        await printJson(host, (await listApiKeys(database, spaceId)).map(showKey));
      }),
    );
}

function addCreateCommand(key: Command, host: Host): void {
  key
    .command('create')
    .description('create an API key; it is shown once')
    .requiredOption('--space <id>', 'the space that it sends events to, or reads')
    .option('--name <name>', 'display name', parseName, 'command line')
    .addOption(
      new Option('--read [scope]', 'create a read key, for programs that read the space (default: events)')
        .choices(readScopes)
        .preset('events'),
    )
    .option('--annotate', 'create a key that adds notes to events, threads and traces, and does nothing else')
    .option('--expires <time>', 'when it expires: ISO 8601', parseTime)
    .action(
      (options: { space: string; name: string; read?: ReadScope; annotate?: boolean; expires?: number }) =>
        withDatabase(host, async (database) => {
          const spaceId = await requireSpace(database, options.space);
          const pepper = readPepper(host);
          const { name, read, annotate, expires } = options;
          if (read !== undefined && annotate) throw new CommandError('Give --read or --annotate, not both.');
          const scope = read ?? (annotate ? 'annotation' : 'ingest');
          if (expires !== undefined && expires <= Date.now())
            throw new CommandError('--expires must be in the future.');
          const expiresAt = expires === undefined ? undefined : new Date(expires);
          await printJson(host, await issueApiKey(database, spaceId, { name, scope, expiresAt, pepper }));
        }),
    );
}

function showKey({ id, ...key }: ApiKeyInfo) {
  return { keyId: id, ...key };
}
