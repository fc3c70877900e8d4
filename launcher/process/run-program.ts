import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describeExit, exitOf, settlesWithin } from './child-process.ts';

/**
 * @returns its stdout.
 * @throws Error with the reason: not installed, timed out, or the exit code with the last line of stderr.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: {
    timeoutMs: number;
    cwd?: string;
    env?: Record<string, string | undefined>;
    signal?: AbortSignal | undefined;
  },
): Promise<string> {
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.cwd && { cwd: options.cwd }),
    ...(options.env && { env: options.env }),
    ...(options.signal && { signal: options.signal }),
  });
  const failure = new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    child.once('error', resolve);
    child.once('exit', () => resolve(undefined));
  });
  const exited = exitOf(child);
  const output = text(child.stdout);
  const errors = text(child.stderr);
  if (!(await settlesWithin(failure, options.timeoutMs))) {
    child.kill('SIGKILL');
    throw new Error(`${file} took longer than ${options.timeoutMs / 1000} s`);
  }
  const error = await failure;
  if (error?.code === 'ENOENT') throw new Error(`${file} is not installed`);
  if (error) throw error;
  const exit = await exited;
  if (exit.code === 0) return output;
  throw new Error(`${file} failed (${describeExit(exit)}): ${lastLine(await errors)}`);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
