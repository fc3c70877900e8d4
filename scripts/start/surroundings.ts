import { type Config, ConfigError } from '../../lib/config.ts';
import { migrateDatabase } from '../../lib/db/migrate.ts';
import { connectQueue } from '../../lib/queue/connect.ts';
import { requireSyncAlways } from '../../lib/queue/sync-always.ts';
import { findPortFault } from '../provision/ports.ts';

type Surroundings = Pick<
  Config,
  | 'INGEST_HOST'
  | 'INGEST_PORT'
  | 'DASHBOARD_HOST'
  | 'DASHBOARD_PORT'
  | 'DATABASE_URL'
  | 'NATS_URL'
  | 'NATS_MONITOR_URL'
  | 'NATS_REPLICAS'
  | 'NATS_ALLOW_UNSYNCED'
>;

/**
 * Checks, before anything is started, what the operator gave us: the ports, and a Postgres and a nats-server of his own.
 *
 * @throws ConfigError with everything that is wrong and what to do about it, all at once.
 */
export async function checkSurroundings(config: Surroundings): Promise<void> {
  const checks = await Promise.allSettled([
    checkPort('INGEST', config.INGEST_HOST, config.INGEST_PORT),
    checkPort('DASHBOARD', config.DASHBOARD_HOST, config.DASHBOARD_PORT),
    refuseSamePort(config),
    checkDatabase(config.DATABASE_URL),
    checkNats(config),
  ]);
  const faults = checks.filter((check) => check.status === 'rejected').map((check) => check.reason as Error);
  const unforeseen = faults.find((fault) => !(fault instanceof ConfigError));
  if (unforeseen) throw unforeseen;
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => fault.message).join('\n'));
}

async function checkPort(service: 'INGEST' | 'DASHBOARD', host: string, port: number): Promise<void> {
  const fault = await findPortFault(host, port);
  if (fault === undefined) return;
  const what = `${service}_PORT ${port}`;
  const messages: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use: stop what listens there, or set ${service}_PORT to another one (0 takes any free one).`,
    EACCES: `Port ${port} needs rights that you do not have: set ${service}_PORT to one above 1023.`,
  };
  throw new ConfigError(
    messages[fault] ??
      `${what} cannot be opened on ${host} (${fault}): set ${service}_HOST to an address of this machine.`,
  );
}

async function refuseSamePort({ INGEST_PORT, DASHBOARD_PORT }: Surroundings): Promise<void> {
  if (INGEST_PORT === 0 || INGEST_PORT !== DASHBOARD_PORT) return;
  throw new ConfigError(`INGEST_PORT and DASHBOARD_PORT are both ${INGEST_PORT}: give them different ones.`);
}

/** The migration connects, checks the version, and is needed anyway. */
async function checkDatabase(url: string | undefined): Promise<void> {
  if (url === undefined) return;
  try {
    await migrateDatabase(url);
  } catch (error) {
    throw explainDatabaseError(url, error);
  }
}

function explainDatabaseError(url: string, error: unknown): unknown {
  const { host, username, pathname } = new URL(url);
  const code = (error as { code?: string }).code ?? '';
  const reason = error instanceof Error ? error.message : String(error);
  const messages: Record<string, string> = {
    '28P01': `Postgres at ${host} refuses the password of ${username}`,
    '28000': `Postgres at ${host} does not let ${username} in`,
    '3D000': `Postgres at ${host} has no database ${pathname.slice(1)}: create it first`,
    '42501': `${username} may not make tables in ${pathname.slice(1)} on ${host}`,
    ECONNREFUSED: `No Postgres answers at ${host}`,
    CONNECT_TIMEOUT: `No Postgres answers at ${host}`,
    CONNECTION_CLOSED: `What answers at ${host} is not Postgres, or hangs up`,
    ENOTFOUND: `There is no machine ${host}`,
    EAI_AGAIN: `The name ${host} cannot be looked up`,
    EHOSTUNREACH: `There is no way to ${host}`,
    ENETUNREACH: `There is no way to ${host}`,
    ETIMEDOUT: `No Postgres answers at ${host}`,
  };
  const message = messages[code];
  if (message === undefined) return error;
  return new ConfigError(
    `${message} (${reason}). Correct DATABASE_URL, or unset it to use the embedded Postgres.`,
  );
}

async function checkNats(config: Surroundings): Promise<void> {
  if (config.NATS_URL === undefined) return;
  await using connection = await connectQueue(config.NATS_URL, 'weir-start');
  if (!config.NATS_ALLOW_UNSYNCED) await requireSyncAlways(connection, config);
}
