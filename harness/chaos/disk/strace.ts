import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitOf } from '../../../launcher/process/child-process.ts';
import { messageOf } from '../../../platform/thrown.ts';
import { readThreads } from '../../system/process-tree.ts';

/** The argument of strace's `inject=`. */
export interface SyscallFault {
  syscalls: string;
  /** `error=EIO` or `delay_exit=100000`; `:when=N` limits it to the Nth call. */
  outcome: string;
}

const attachTimeoutMs = 20_000;

/**
 * Makes system calls of these processes and their children fail or take longer, with strace(1). Disposing it
 * ends the injection.
 *
 * @throws Error with strace's output when it cannot attach.
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
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  let hasExited = false;
  const exited = exitOf(child).then(() => {
    hasExited = true;
  });
  const deadlineMs = performance.now() + attachTimeoutMs;
  while (pids.some((pid) => readThreads(pid, 'TracerPid').includes('0'))) {
    if (hasExited) throw new Error(`strace did not attach: ${errors.trim() || 'it is not installed'}`);
    if (performance.now() > deadlineMs) {
      child.kill('SIGINT');
      throw new Error(`strace did not attach within ${attachTimeoutMs} ms`);
    }
    await sleep(10);
  }
  return {
    async [Symbol.asyncDispose]() {
      // On SIGINT strace detaches; after SIGKILL the traced processes would stay stopped.
      child.kill('SIGINT');
      await exited;
    },
  };
}

/** Why this machine does not support it; undefined when it does. */
export async function checkStrace(): Promise<string | undefined> {
  const sleeper = spawn('sleep', ['60'], { stdio: 'ignore' });
  const ended = exitOf(sleeper);
  try {
    await using _ = await injectSyscallFault([sleeper.pid ?? 0], { syscalls: 'fsync', outcome: 'error=EIO' });
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    sleeper.kill('SIGKILL');
    await ended;
  }
}
