import { spawn } from 'node:child_process';
import { execPath } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { inheritedEnvironment } from '../run/inherited-environment.ts';
import { until } from '../wait.ts';

const main = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url));

/** `weir erase` as a process that can be killed. `said` resolves when its stderr matches. */
export function startErase(variables: Record<string, string>, args: readonly string[]) {
  const child = spawn(execPath, [main, 'erase', ...args, '--yes'], {
    env: { ...inheritedEnvironment(), ...variables },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const stdout = text(child.stdout);
  return {
    kill: () => child.kill('SIGKILL'),
    exited,
    said: (pattern: RegExp) => until(() => pattern.test(stderr), 30_000),
    async receipt() {
      expect(await exited, stderr).toBe(0);
      return JSON.parse(await stdout);
    },
  };
}
