import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { preloadOption } from '../preload.mjs';
import type { TaskAnswer, TaskRequest, Tasks } from '../start-tasks.ts';

type Result<Name extends keyof Tasks> = Awaited<ReturnType<Tasks[Name]>>;

export type TaskProcess = ReturnType<typeof openTaskProcess>;

const script = fileURLToPath(new URL('../start-tasks.ts', import.meta.url));

/** Keeps the 100 MB of Zod, Drizzle and the schema out of the supervisor, which runs for months. */
export function openTaskProcess() {
  const child = fork(script, { execArgv: [preloadOption()] });
  const exited = once(child, 'exit');
  exited.catch(() => {});
  return {
    /** One task at a time. @throws Error with the message of the task's error. */
    async run<Name extends keyof Tasks>(name: Name, ...args: Parameters<Tasks[Name]>): Promise<Result<Name>> {
      const request: TaskRequest = { name, args };
      const answered = once(child, 'message');
      child.send(request, (error) => error && child.kill());
      const [answer] = (await Promise.race([answered, exited.then(() => [])])) as [TaskAnswer?];
      if (answer === undefined) throw new Error(`${name}: its process has exited`);
      if ('failure' in answer) throw new Error(answer.failure);
      // The process runs the task of this name.
      return answer.result as Result<Name>;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      child.kill();
      await exited;
    },
  };
}
