import { startNatsServer } from '../provision/nats-server.ts';
import { findNatsServer } from '../provision/nats-sources.ts';
import { startPostgres } from '../provision/postgres.ts';
import type { StartContext } from './context.ts';
import { keepEmbedded } from './keep-embedded.ts';
import { watchRecovery } from './watch-recovery.ts';
import { watchWrites } from './watch-writes.ts';

/** The stream must be full before JetStream's files are, and those need room for more than messages. */
const streamShareOfFiles = 0.85;

/** What the services are told about their Postgres and nats-server, in the names of config.ts. */
export interface BackingEnv {
  DATABASE_URL: string;
  NATS_URL: string;
  NATS_MONITOR_URL?: string | undefined;
  QUEUE_BYTES_MAX: string;
}

/** Starts the Postgres and the nats-server that the operator did not bring, and keeps them running. */
export async function startBacking(context: StartContext): Promise<BackingEnv> {
  const DATABASE_URL = context.config.DATABASE_URL ?? (await keepPostgres(context));
  return { DATABASE_URL, ...(await provideNats(context)) };
}

async function keepPostgres(context: StartContext): Promise<string> {
  const { data, progress } = context;
  const server = await progress.step('Postgres', () =>
    keepEmbedded(context, {
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
        void watchRecovery({ ...running, logFile }, (line) => progress.note(line));
        return running;
      },
    }),
  );
  return server.url;
}

async function provideNats(context: StartContext): Promise<Omit<BackingEnv, 'DATABASE_URL'>> {
  const { config, data, progress } = context;
  if (config.NATS_URL !== undefined) {
    return {
      NATS_URL: config.NATS_URL,
      NATS_MONITOR_URL: config.NATS_MONITOR_URL,
      QUEUE_BYTES_MAX: String(config.QUEUE_BYTES_MAX),
    };
  }
  const server = await progress.step('nats-server', (say) => keepNats(context, say));
  const streamBytes = Math.min(
    config.QUEUE_BYTES_MAX,
    Math.floor(data.natsFileBytesMax * streamShareOfFiles),
  );
  return { NATS_URL: server.url, NATS_MONITOR_URL: server.monitorUrl, QUEUE_BYTES_MAX: String(streamBytes) };
}

async function keepNats(context: StartContext, say: (detail: string) => void) {
  const { env, cacheDir, data, progress, signal } = context;
  const { binary } = await findNatsServer({ searchPath: env.PATH ?? '', cacheDir, report: say, signal });
  return keepEmbedded(context, {
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
      void watchWrites({ ...server, storeDir: data.nats }, (line) => progress.note(line));
      return server;
    },
  });
}
