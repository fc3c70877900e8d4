import { readThreads, signalAll } from '../../scripts/chaos/process-tree.ts';
import { until } from './wait.ts';

/** Pauses a process, and returns when all its threads stand still: on a busy machine that takes a moment. */
export async function pauseProcess(pid: number): Promise<void> {
  signalAll([pid], 'SIGSTOP');
  await until(() => readThreads(pid, 'State').every((state) => state === 'T'));
}
