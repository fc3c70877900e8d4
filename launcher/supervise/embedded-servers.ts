import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../platform/config/config-error.ts';
import { controlBytesMax } from '../../store/control/limits.ts';
import { lastLogLines, logBytes } from '../process/log-file.ts';
import type { ServerProcess, StartHooks } from '../process/server-process.ts';
import { startNatsServer } from '../provision/nats/nats-server.ts';
import { findNatsServer } from '../provision/nats/nats-sources.ts';
import { startOnFreePorts } from '../provision/ports.ts';
import { startPostgres } from '../provision/postgres/postgres.ts';
import { type DatabaseUser, ensureRoles, urlOfRole } from '../provision/postgres/roles.ts';
import { findOpenRestore } from '../restore/restore-journal.ts';
import { watchNats } from './nats-watchdog.ts';
import { watchPostgres } from './postgres-watchdog.ts';
import { startRestartLoop } from './restart-loop.ts';
import { finishRestore } from './restores.ts';
import type { StartContext } from './start-context.ts';

/**
 * JetStream's file limit is higher than that of all streams: files also hold indexes and deleted messages.
 */
const streamShareOfFiles = 0.85;

/** What the control stream leaves for the queue: nats-server reserves the bytes of every stream. */
export function queueBytesWithin(natsFileBytesMax: number, wantedBytes: number): number {
  return Math.min(wantedBytes, Math.floor(natsFileBytesMax * streamShareOfFiles) - controlBytesMax);
}

interface NatsEnv {
  NATS_URL: string;
  NATS_MONITOR_URL?: string | undefined;
  QUEUE_BYTES_MAX: string;
}

export interface Servers {
  /** Differs for each service and the owner, except on the operator's own Postgres. */
  databaseUrlOf(user: DatabaseUser): string;
  natsEnv: NatsEnv;
}

/** Starts and supervises Postgres and nats-server, each unless the configuration names the operator's own. */
export async function startServers(context: StartContext): Promise<Servers> {
  const { DATABASE_URL } = context.config;
  if (DATABASE_URL !== undefined)
    return { databaseUrlOf: () => DATABASE_URL, natsEnv: await provideNats(context) };
  const restore = findOpenRestore(context.data.file('restore.json'));
  if (restore === undefined)
    return { databaseUrlOf: await superviseOwnPostgres(context), natsEnv: await provideNats(context) };
  // The restore needs the queue.
  const natsEnv = await provideNats(context);
  await finishRestore(context, restore, natsEnv.NATS_URL);
  return { databaseUrlOf: await superviseOwnPostgres(context), natsEnv };
}

/** The superuser only makes the roles. @returns the address of the database for each role. */
async function superviseOwnPostgres(context: StartContext): Promise<Servers['databaseUrlOf']> {
  const { data, progress } = context;
  const server = await progress.step('Postgres', () =>
    superviseServer(context, {
      name: 'postgres',
      portCount: 1,
      stopSignal: 'SIGINT',
      start: async ([port = 0], hooks) => {
        requireData(context);
        const logFile = data.logFile('postgres');
        const running = await startPostgres({
          ...hooks,
          dataDir: data.postgres,
          password: data.secrets.postgresPassword,
          logFile,
          port,
        });
        void watchPostgres({ ...running, logFile }, (line) => progress.note(line));
        return running;
      },
    }),
  );
  await ensureRoles(server.url);
  return (user) => urlOfRole(server.url, user);
}

/**
 * An empty database instead of a lost one would accept events for spaces that nobody can see.
 * @throws ConfigError when Postgres' data directory is gone.
 */
function requireData({ data }: StartContext): void {
  if (existsSync(join(data.postgres, 'PG_VERSION')) || !existsSync(data.file('first-run.json'))) return;
  throw new ConfigError(
    `The data directory of Postgres, ${data.postgres}, is gone. Restore it with \`weir restore\` (docs/backup.md). To begin with an empty database, delete ${data.file('first-run.json')}.`,
  );
}

async function provideNats(context: StartContext): Promise<NatsEnv> {
  const { config, data, progress } = context;
  if (config.NATS_URL !== undefined) {
    return {
      NATS_URL: config.NATS_URL,
      NATS_MONITOR_URL: config.NATS_MONITOR_URL,
      QUEUE_BYTES_MAX: String(config.QUEUE_BYTES_MAX),
    };
  }
  const server = await progress.step('nats-server', (showDetail) => superviseOwnNats(context, showDetail));
  const streamBytes = queueBytesWithin(data.natsFileBytesMax, config.QUEUE_BYTES_MAX);
  return { NATS_URL: server.url, NATS_MONITOR_URL: server.monitorUrl, QUEUE_BYTES_MAX: String(streamBytes) };
}

async function superviseOwnNats(context: StartContext, report: (detail: string) => void) {
  const { env, cacheDir, data, progress, signal } = context;
  const { binary } = await findNatsServer({ searchPath: env.PATH ?? '', cacheDir, report, signal });
  return superviseServer(context, {
    name: 'nats-server',
    portCount: 2,
    stopSignal: 'SIGTERM',
    start: async ([port = 0, monitorPort = 0], hooks) => {
      const server = await startNatsServer({
        ...hooks,
        binary,
        storeDir: data.nats,
        password: data.secrets.natsPassword,
        maxFileBytes: data.natsFileBytesMax,
        logFile: data.logFile('nats-server'),
        port,
        monitorPort,
      });
      void watchNats({ ...server, storeDir: data.nats }, (line) => progress.note(line));
      return server;
    },
  });
}

interface SupervisedServer<T extends ServerProcess> {
  name: 'postgres' | 'nats-server';
  portCount: number;
  stopSignal: NodeJS.Signals;
  start: (ports: readonly number[], hooks: Required<StartHooks>) => Promise<T>;
}

/** Starts an embedded server and restarts it on the same ports, to which clients reconnect. */
async function superviseServer<T extends ServerProcess>(
  { data, state, progress, resources, loops, signal }: StartContext,
  server: SupervisedServer<T>,
): Promise<T> {
  signal.throwIfAborted();
  const { name } = server;
  const logFile = data.logFile(name);
  const hooks = { signal, onSpawn: (pid: number) => state.addChild(name, pid, server.stopSignal) };
  let logStart = 0;
  const startOn = (ports: readonly number[]) => {
    logStart = logBytes(logFile);
    return server.start(ports, hooks);
  };
  let running: T | undefined;
  let ports: readonly number[] | undefined;
  const supervised = await startRestartLoop({
    name,
    report: (line) => progress.note(line),
    lastOutput: () => lastLogLines(logFile, logStart, 1),
    start: async () => {
      if (ports !== undefined) return startOn(ports);
      const choose = async (chosen: number[]) => {
        const started = await startOn(chosen);
        ports = chosen;
        return started;
      };
      running = await startOnFreePorts(server.portCount, choose, state.portsOf(name));
      return running;
    },
  });
  resources.use(supervised);
  loops.set(name, supervised);
  if (running === undefined || ports === undefined) throw new Error(`${name} started without ports`);
  state.keepPorts(name, ports);
  return running;
}
