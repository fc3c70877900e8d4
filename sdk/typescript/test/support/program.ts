import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { env, execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const path = fileURLToPath(new URL('../programs/record.ts', import.meta.url));

export interface Program {
  child: ChildProcess;
  /** The next line of output. @throws Error when the program ends before it prints one. */
  says(): Promise<Record<string, unknown>>;
  /** Resolves at the end with the exit code or the signal. */
  ended: Promise<number | string>;
}

/** Runs `programs/record.ts` in a separate process. */
export function startProgram(deed: string, variables: Record<string, string>): Program {
  const child = spawn(execPath, [path, deed], {
    env: { PATH: env.PATH, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ended = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | string);
  return {
    child,
    ended,
    async says() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`The program ended without output.\n${errors}`);
      return JSON.parse(value);
    },
  };
}
