import type { NatsConnection } from '@nats-io/transport-node';
import { withLocalConnection } from '../launcher/local-system.ts';
import { trustCertificates } from '../platform/config/trusted-certificates.ts';
import { type Config, parseConfig, requireConfig } from '../platform/config.ts';
import { connectQueue } from '../platform/queue/connect.ts';
import { spaceExists } from '../store/accounts/spaces.ts';
import { openPostgres, type Sql, storeTimeoutMs } from '../store/db/connect.ts';
import { type Database, openDatabase } from '../store/db/database.ts';
import { segmentReadsMax } from '../store/segments/read.ts';
import { parseId } from './arguments.ts';
import { relayChanges } from './control-changes.ts';
import { CommandError, type Host } from './host.ts';

/** The configuration, with unset addresses taken from the local system of `weir start`. */
export function readConfig(host: Host): Config {
  const config = parseConfig(withLocalConnection(host.env));
  trustCertificates(config);
  return config;
}

/**
 * Closes the pool, and puts the changes into the control stream, before it returns.
 * @throws CommandError when the configuration names no Postgres.
 */
export async function withDatabase(host: Host, run: (database: Database) => Promise<void>): Promise<void> {
  await using sql = openPostgres(requireDatabaseUrl(host), {
    applicationName: 'weir-cli',
    connectionsMax: segmentReadsMax,
    statementTimeoutMs: storeTimeoutMs,
  });
  await run(openDatabase(sql));
  await relayChanges(host, sql, readConfig(host));
}

/** @throws CommandError when the configuration names no Postgres. */
export function requireDatabaseUrl(host: Host): string {
  const { DATABASE_URL, WEIR_DATA_DIR } = readConfig(host);
  if (DATABASE_URL !== undefined) return DATABASE_URL;
  throw new CommandError(
    `Nothing was started in ${WEIR_DATA_DIR} yet. Start Weir with \`weir start\`, or set WEIR_DATA_DIR or DATABASE_URL to a running system.`,
  );
}

/** The secret that API keys are hashed with. @throws ConfigError when it is not configured. */
export function readPepper(host: Host): string {
  return requireConfig(readConfig(host), ['API_KEY_PEPPER']).API_KEY_PEPPER;
}

/** @throws CommandError when no space has this name or id. */
export async function requireSpace(database: Database, text: string): Promise<string> {
  const spaceId = parseId('space', text);
  if (!(await spaceExists(database, spaceId))) throw noSuchSpace(spaceId);
  return spaceId;
}

export function openLongPool(
  host: Host,
  { name, statementTimeoutMs }: { name: string; statementTimeoutMs: number },
): Sql & AsyncDisposable {
  const applicationName = `weir-cli-${name}`;
  return openPostgres(requireDatabaseUrl(host), { applicationName, statementTimeoutMs });
}

/** @throws ConfigError when the configuration names no nats-server. */
export function connectNats(host: Host, name: string): Promise<NatsConnection> {
  return connectQueue(requireConfig(readConfig(host), ['NATS_URL']).NATS_URL, `weir-cli-${name}`);
}

export function noSuchSpace(spaceId: string): CommandError {
  return new CommandError(`There is no space ${spaceId}. \`space list\` lists all spaces.`);
}
