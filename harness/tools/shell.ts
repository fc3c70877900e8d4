import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface ShellResult {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a shell script until it exits. After the time-out it is killed with all its child processes. */
export async function runShell(
  script: string,
  { cwd, env, timeoutMs }: { cwd: string; env: Record<string, string | undefined>; timeoutMs: number },
): Promise<ShellResult> {
  const child = spawn('sh', ['-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), timeoutMs);
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  try {
    const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
    return { exitCode, stdout, stderr };
  } finally {
    clearTimeout(timer);
  }
}
