import { ConfigError } from '../platform/config/config-error.ts';
import type { Config } from '../platform/config.ts';
import { codeOf, messageOf } from '../platform/thrown.ts';
import { findPortFault } from './provision/ports.ts';

const statementTimeoutMs = 10_000;

type PreflightConfig = Pick<
  Config,
  | 'INGEST_HOST'
  | 'INGEST_PORT'
  | 'DASHBOARD_HOST'
  | 'DASHBOARD_PORT'
  | 'DATABASE_URL'
  | 'DATABASE_ALLOW_UNSYNCED'
  | 'NATS_URL'
  | 'NATS_MONITOR_URL'
  | 'NATS_REPLICAS'
  | 'NATS_ALLOW_UNSYNCED'
>;

/**
 * Checks the configured ports, Postgres and nats-server before anything is started.
 * @throws ConfigError with all errors, and how to fix each.
 */
export async function preflight(config: PreflightConfig): Promise<void> {
  const checks = await Promise.allSettled([
    checkPort('INGEST', config.INGEST_HOST, config.INGEST_PORT),
    checkPort('DASHBOARD', config.DASHBOARD_HOST, config.DASHBOARD_PORT),
    rejectSamePort(config),
    checkDatabase(config),
    checkNats(config),
  ]);
  const faults = checks.filter((check) => check.status === 'rejected').map((check) => check.reason as Error);
  const unexpected = faults.find((fault) => !(fault instanceof ConfigError));
  if (unexpected) throw unexpected;
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => fault.message).join('\n'));
}

async function checkPort(service: 'INGEST' | 'DASHBOARD', host: string, port: number): Promise<void> {
  const fault = await findPortFault(host, port);
  if (fault === undefined) return;
  const what = `${service}_PORT ${port}`;
  const messages: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use: stop the program that listens there, or set ${service}_PORT to another port (0 chooses a free one).`,
    EACCES: `Port ${port} requires more privileges: set ${service}_PORT to a port above 1023.`,
  };
  throw new ConfigError(
    messages[fault] ??
      `${what} cannot be opened on ${host} (${fault}): set ${service}_HOST to an address of this machine.`,
  );
}

async function rejectSamePort({ INGEST_PORT, DASHBOARD_PORT }: PreflightConfig): Promise<void> {
  if (INGEST_PORT === 0 || INGEST_PORT !== DASHBOARD_PORT) return;
  throw new ConfigError(`INGEST_PORT and DASHBOARD_PORT are both ${INGEST_PORT}: set different ports.`);
}

/** Connects, checks the version, and migrates. Loaded late: the modules take 100 MB of memory. */
async function checkDatabase({ DATABASE_URL: url, DATABASE_ALLOW_UNSYNCED }: PreflightConfig): Promise<void> {
  if (url === undefined) return;
  try {
    if (!DATABASE_ALLOW_UNSYNCED) await checkDurability(url);
    const { migrateDatabase } = await import('../store/migrate/migrate.ts');
    await migrateDatabase(url);
  } catch (error) {
    throw await explainDatabaseError(url, error);
  }
}

async function checkDurability(url: string): Promise<void> {
  const { openPostgres } = await import('../store/db/connect.ts');
  const { openDatabase } = await import('../store/db/database.ts');
  const { requireDurable } = await import('../store/db/durability.ts');
  await using sql = openPostgres(url, { applicationName: 'weir-start', statementTimeoutMs });
  await requireDurable(openDatabase(sql));
}

async function explainDatabaseError(url: string, error: unknown): Promise<unknown> {
  const { describeRejection } = await import('../store/db/connect.ts');
  const { host, username, pathname } = new URL(url);
  const code = codeOf(error) ?? '';
  const messages: Record<string, string> = {
    '42501': `${username} has no permission to create tables in ${pathname.slice(1)} on ${host}`,
    ECONNREFUSED: `No Postgres responds at ${host}`,
    CONNECT_TIMEOUT: `No Postgres responds at ${host}`,
    CONNECTION_CLOSED: `The server at ${host} closes the connection; it may not be Postgres`,
    ENOTFOUND: `The host ${host} does not exist`,
    EAI_AGAIN: `The host name ${host} cannot be resolved`,
    EHOSTUNREACH: `The host ${host} is unreachable`,
    ENETUNREACH: `The host ${host} is unreachable`,
    ETIMEDOUT: `No Postgres responds at ${host}`,
  };
  const rejection = describeRejection(error, { host, username, database: pathname.slice(1) });
  const message = rejection ?? messages[code];
  if (message === undefined) return error;
  return new ConfigError(
    `${message} (${messageOf(error)}). Fix DATABASE_URL, or unset it to use the embedded Postgres.`,
  );
}

async function checkNats(config: PreflightConfig): Promise<void> {
  if (config.NATS_URL === undefined) return;
  const { connectQueue } = await import('../platform/queue/connect.ts');
  const { requireSyncAlways } = await import('../platform/queue/sync-always.ts');
  await using connection = await connectQueue(config.NATS_URL, 'weir-start');
  if (!config.NATS_ALLOW_UNSYNCED) await requireSyncAlways(connection, config);
}
