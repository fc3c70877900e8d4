import process from 'node:process';
import { trustCertificates } from '../platform/config/trusted-certificates.ts';
import { parseConfig } from '../platform/config.ts';
import { messageOf } from '../platform/thrown.ts';
import type { FirstAccessOptions } from './first-run.ts';
import type { Connection } from './local-system.ts';
import { preflight } from './preflight.ts';

/** Loaded while the servers start: loading Drizzle would delay the checks of the configuration. */
const loadMigration = () => import('../store/migrate/migrate.ts');
const loadFirstRun = () => import('./first-run.ts');

/** The steps of a start that need Zod, Drizzle or a client of the servers (supervise/task-process.ts). */
const tasks = {
  parseConfig(...given: Parameters<typeof parseConfig>) {
    const config = parseConfig(...given);
    trustCertificates(config);
    return config;
  },
  preflight,
  migrateDatabase: async (url: string) => (await loadMigration()).migrateDatabase(url),
  ensureFirstAccess: async (options: FirstAccessOptions) => (await loadFirstRun()).ensureFirstAccess(options),
  createOwnerLink: async (connection: Connection) => (await loadFirstRun()).createOwnerLink(connection),
};

export type Tasks = typeof tasks;

export interface TaskRequest {
  name: keyof Tasks;
  args: unknown[];
}

export type TaskAnswer = { result: unknown } | { failure: string };

process.on('message', async ({ name, args }: TaskRequest) => {
  // The supervisor, which has the same types, chose the arguments.
  const task = tasks[name] as (...args: unknown[]) => unknown;
  process.send?.(await answer(async () => task(...args)));
  // A task that cannot load its code reports it.
  if (name === 'preflight') Promise.all([loadMigration(), loadFirstRun()]).catch(() => {});
});

async function answer(run: () => Promise<unknown>): Promise<TaskAnswer> {
  try {
    return { result: await run() };
  } catch (error) {
    return { failure: messageOf(error) };
  }
}
