import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { chooseFreePorts, startOnFreePorts } from '../../launcher/provision/ports.ts';
import { ensureRoles, urlOfRole } from '../../launcher/provision/postgres/roles.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { migrateDatabase } from '../../store/migrate/migrate.ts';
import { openTcpBalancer, type TcpBalancer } from '../network/tcp-balancer.ts';
import type { ManagedProcess } from './managed-process.ts';
import { type CommandLine, openCommandLine, openRelease } from './release.ts';
import { type Servers, startServers } from './servers.ts';
import { startServices } from './services.ts';
import type { SystemContext, SystemOptions } from './system-options.ts';

export const defaultSystem: SystemOptions = { natsServers: 1, ingests: 1, writers: 1, proxied: false };

/** Where and how systems are started. */
export interface SystemEnvironment {
  /** The path of the nats-server program. */
  natsBinary: string;
  /** The parent of the systems' directories. Every user must be able to pass it. */
  parentDirectory: string;
  env: Record<string, string | undefined>;
  /** Whether to keep the directories, with their logs, after the run. */
  keep: boolean;
  log(line: string): void;
}

/**
 * A Weir composed of single processes, in its own directory and on its own ports, so that each process and
 * each connection can be made to fail. Every process is restarted when it exits. `weir.ts` runs a Weir as
 * `npm start` does instead.
 */
export interface System extends AsyncDisposable, Servers {
  readonly options: SystemOptions;
  /** Every process, in the order of the starts. */
  readonly processes: readonly ManagedProcess[];
  /** Finds `ingest-1`, `writer-1`, `nats-1` or `postgres`. @throws Error when no process has that name. */
  process(name: string): ManagedProcess;
  /** The URLs of ingest-1, ingest-2, …, or that of the load balancer. They stay the same across restarts. */
  readonly ingestUrls: readonly string[];
  /** The ports of ingest-1, ingest-2, …. */
  readonly ingestPorts: readonly number[];
  /** The URLs of the probes of writer-1, writer-2, …, in a system on Citus. */
  readonly probeUrls: readonly string[];
  /**
   * Connects without a proxy. It reconnects after a restart of Postgres; statements that were running fail.
   */
  readonly sql: Sql;
  readonly database: Database;
  readonly pepper: string;
  readonly directory: string;
  /** Undefined unless the system started as the last release. */
  readonly released: ReleasedSystem | undefined;
  /** Undefined in a system that is not balanced. */
  readonly balancer: TcpBalancer | undefined;
  /** Undefined in a system without a dashboard API. */
  readonly dashboardUrl: string | undefined;
  /** The checkout whose code a process runs from its next start on; default: this one. */
  readonly checkouts: Map<string, string>;
  readonly log: (line: string) => void;
}

/** What belongs to the release that a system started as. */
export interface ReleasedSystem {
  root: string;
  weir: CommandLine;
}

/**
 * Starts a system, and resolves when it accepts events. It starts again when one of its ports was taken after
 * it was chosen, by a system beside it.
 */
export function startSystem(options: SystemOptions, environment: SystemEnvironment): Promise<System> {
  return startOnFreePorts(0, () => startOnce(options, environment));
}

async function startOnce(
  options: SystemOptions,
  { parentDirectory, natsBinary, env, keep, log }: SystemEnvironment,
): Promise<System> {
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(parentDirectory, 'weir-chaos-'));
  if (!keep) stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, 'logs'));
  const pepper = randomBytes(24).toString('hex');
  const checkouts = new Map<string, string>();
  const context: SystemContext = { directory, options, natsBinary, env, log, stack, pepper, checkouts };
  const servers = await startServers(context);
  await ensureRoles(servers.databaseUrl);
  const ownerUrl = urlOfRole(servers.databaseUrl, 'owner');
  const released = options.released ? await startAsReleased(context, ownerUrl) : undefined;
  if (released === undefined) await migrateDatabase(ownerUrl);
  const openPool = () =>
    stack.use(
      openPostgres(servers.databaseUrl, {
        applicationName: 'chaos',
        connectionsMax: 2,
        statementTimeoutMs: 0,
      }),
    );
  const [sql, database] = [openPool(), openDatabase(openPool())];
  const [dashboardPort = 0, ...free] = await chooseFreePorts(1 + options.ingests + options.writers);
  const [ports, writers] = [free.slice(0, options.ingests), free.slice(options.ingests)];
  const dashboard = options.released || options.citus ? dashboardPort : 0;
  const services = await startServices(context, servers, { ingests: ports, writers, dashboard });
  const balancer = options.balanced ? stack.use(await openTcpBalancer(ports)) : undefined;
  const processes = [...servers.processes, ...services];
  const owned = stack.move();
  return {
    ...servers,
    options,
    processes,
    process(name) {
      const found = processes.find((one) => one.name === name);
      if (found === undefined) throw new Error(`the system has no process ${name}`);
      return found;
    },
    ingestUrls: (balancer ? [balancer.port] : ports).map(urlOnLoopback),
    ingestPorts: ports,
    probeUrls: writers.map(urlOnLoopback),
    released,
    balancer,
    dashboardUrl: dashboard === 0 ? undefined : urlOnLoopback(dashboard),
    checkouts,
    sql,
    database,
    pepper,
    directory,
    log,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const urlOnLoopback = (port: number) => `http://127.0.0.1:${port}`;

/**
 * Makes the schema of the last release with its own command line, and lets every service start from its code.
 */
async function startAsReleased(
  { env, pepper, options, checkouts, directory }: SystemContext,
  databaseUrl: string,
): Promise<ReleasedSystem> {
  const root = await openRelease(env);
  const weir = openCommandLine(root, {
    PATH: env.PATH ?? '',
    DATABASE_URL: databaseUrl,
    API_KEY_PEPPER: pepper,
    WEIR_DATA_DIR: directory,
  });
  await weir('migrate');
  const names = (kind: string, count: number) => Array.from({ length: count }, (_, i) => `${kind}-${i + 1}`);
  for (const name of [
    ...names('ingest', options.ingests),
    ...names('writer', options.writers),
    'dashboard-api',
  ])
    checkouts.set(name, root);
  return { root, weir };
}
