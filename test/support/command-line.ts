import { spawn } from 'node:child_process';
import { env, execPath } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

export interface CommandResult {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs `weir …` as a process of its own, in surroundings where nothing was started unless `variables` say so.
 * Without `readStdout` the reader of its output leaves at once, as `| head` does.
 */
export async function runWeir(
  args: string[],
  variables: Record<string, string> = {},
  { readStdout = true } = {},
): Promise<CommandResult> {
  const child = spawn(execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: env.PATH, WEIR_DATA_DIR: '/nonexistent/weir', ...variables },
  });
  if (!readStdout) child.stdout.destroy();
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, exitCode] = await Promise.all([
    readStdout ? text(child.stdout) : '',
    text(child.stderr),
    exited,
  ]);
  return { exitCode, stdout, stderr };
}
