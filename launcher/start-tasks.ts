import process from 'node:process';
import { migrateDatabase } from '../lib/migrate/migrate.ts';
import { createOwnerLink, ensureFirstAccess } from './first-run.ts';

/** The steps of a start that need Drizzle, in a process of their own (supervise/task-process.ts). */
const tasks = { migrateDatabase, ensureFirstAccess, createOwnerLink };

export type Tasks = typeof tasks;

export interface TaskRequest {
  name: keyof Tasks;
  args: unknown[];
}

export type TaskAnswer = { result: unknown } | { failure: string };

process.on('message', async ({ name, args }: TaskRequest) => {
  // The supervisor, which has the same types, chose the arguments.
  const task = tasks[name] as (...args: unknown[]) => Promise<unknown>;
  process.send?.(await answer(() => task(...args)));
});

async function answer(run: () => Promise<unknown>): Promise<TaskAnswer> {
  try {
    return { result: await run() };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
