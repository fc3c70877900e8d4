import { readdirSync, readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { until } from './wait.ts';

/** Pauses a process, and returns when all its threads stand still: on a busy machine that takes a moment. */
export async function pauseProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  if (platform() === 'linux') await until(() => threadStates(pid).every((state) => state === 'T'));
}

function threadStates(pid: number): (string | undefined)[] {
  return readdirSync(`/proc/${pid}/task`).map(
    (thread) => /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))?.[1],
  );
}
