import { startNatsServer } from '../provision/nats/nats-server.ts';
import { findNatsServer } from '../provision/nats/nats-sources.ts';
import { startPostgres } from '../provision/postgres/postgres.ts';
import { watchNats } from './nats-watchdog.ts';
import { watchPostgres } from './postgres-watchdog.ts';
import type { StartContext } from './start-context.ts';
import { superviseServer } from './supervised-server.ts';

/** The stream's limit is below JetStream's file limit, whose files also hold indexes and deleted messages. */
const streamShareOfFiles = 0.85;

/** The configuration variables with the addresses of Postgres and nats-server, for the services. */
export interface ServerEnv {
  DATABASE_URL: string;
  NATS_URL: string;
  NATS_MONITOR_URL?: string | undefined;
  QUEUE_BYTES_MAX: string;
}

/** Starts and supervises Postgres and nats-server, each unless the configuration names the operator's own. */
export async function startServers(context: StartContext): Promise<ServerEnv> {
  const DATABASE_URL = context.config.DATABASE_URL ?? (await superviseOwnPostgres(context));
  return { DATABASE_URL, ...(await provideNats(context)) };
}

async function superviseOwnPostgres(context: StartContext): Promise<string> {
  const { data, progress } = context;
  const server = await progress.step('Postgres', () =>
    superviseServer(context, {
      name: 'postgres',
      portCount: 1,
      stopSignal: 'SIGINT',
      start: async ([port = 0], hooks) => {
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
  return server.url;
}

async function provideNats(context: StartContext): Promise<Omit<ServerEnv, 'DATABASE_URL'>> {
  const { config, data, progress } = context;
  if (config.NATS_URL !== undefined) {
    return {
      NATS_URL: config.NATS_URL,
      NATS_MONITOR_URL: config.NATS_MONITOR_URL,
      QUEUE_BYTES_MAX: String(config.QUEUE_BYTES_MAX),
    };
  }
  const server = await progress.step('nats-server', (showDetail) => superviseOwnNats(context, showDetail));
  const streamBytes = Math.min(
    config.QUEUE_BYTES_MAX,
    Math.floor(data.natsFileBytesMax * streamShareOfFiles),
  );
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
