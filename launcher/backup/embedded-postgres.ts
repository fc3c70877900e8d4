import { join, resolve } from 'node:path';
import { readConnection, readSecrets, type Secrets } from '../local-system.ts';

/** @returns its URL is with the superuser; undefined when `weir start` does not run in this directory. */
export function findEmbeddedPostgres(weirDataDir: string) {
  const connection = readConnection(weirDataDir);
  const secrets = readSecrets(weirDataDir);
  if (connection === undefined || secrets === undefined) return undefined;
  return {
    url: superuserUrl(connection.databaseUrl, secrets),
    dataDir: join(resolve(weirDataDir), 'postgres'),
    secrets,
    connection,
  };
}

export function superuserUrl(databaseUrl: string, { postgresPassword }: Secrets): string {
  const url = new URL(databaseUrl);
  url.username = 'weir';
  url.password = postgresPassword;
  return url.href;
}
