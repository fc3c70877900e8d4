import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitOf } from '../provision/embedded-process.ts';
import { readThreads } from './process-tree.ts';

/** What the kernel is made to answer: strace's `inject=` without the word. */
export interface SyscallFault {
  syscalls: string;
  /** `error=EIO`, `delay_exit=100000`, with `:when=N` if not at every call. */
  outcome: string;
}

const attachTimeoutMs = 20_000;

/**
 * Makes system calls of processes of ours, and of what they start, fail or take longer (strace(1)). Disposing it ends
 * that; it also ends with the processes.
 *
 * @throws Error with strace's own words when it cannot attach.
 */
export async function injectSyscallFault(
  pids: readonly number[],
  { syscalls, outcome }: SyscallFault,
): Promise<AsyncDisposable> {
  const child = spawn(
    'strace',
    [
      ...['-f', '-qqq', '-o', '/dev/null'],
      ...['-e', `trace=${syscalls}`, '-e', `inject=${syscalls}:${outcome}`, '-e', 'signal=none'],
      ...pids.flatMap((pid) => ['-p', String(pid)]),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  let hasEnded = false;
  const exited = exitOf(child).then(() => {
    hasEnded = true;
  });
  const deadlineMs = performance.now() + attachTimeoutMs;
  while (pids.some((pid) => readThreads(pid, 'TracerPid').includes('0'))) {
    if (hasEnded) throw new Error(`strace did not attach: ${complaint.trim() || 'it is not installed'}`);
    if (performance.now() > deadlineMs) {
      child.kill('SIGINT');
      throw new Error('strace did not attach in time');
    }
    await sleep(10);
  }
  return {
    async [Symbol.asyncDispose]() {
      // On SIGINT it lets go of them; killed, it would leave them stopped.
      child.kill('SIGINT');
      await exited;
    },
  };
}

/** Why this machine cannot do it; undefined when it can. */
export async function findStraceObstacle(): Promise<string | undefined> {
  const sleeper = spawn('sleep', ['60'], { stdio: 'ignore' });
  const ended = exitOf(sleeper);
  try {
    await using _ = await injectSyscallFault([sleeper.pid ?? 0], { syscalls: 'fsync', outcome: 'error=EIO' });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    sleeper.kill('SIGKILL');
    await ended;
  }
}
