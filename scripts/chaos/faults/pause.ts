import { setTimeout as sleep } from 'node:timers/promises';
import { ackWaitMs } from '../../../lib/limits.ts';
import type { Fault } from '../fault.ts';
import { findMissingProc, processTree, signalAll } from '../process-tree.ts';

/** SIGSTOP of one part with all its processes, and SIGCONT a while later. */
function pause(part: string, title: string): Fault {
  return {
    name: `pause-${part.replace(/-\d$/, '')}`,
    row: 2,
    title,
    findObstacle: findMissingProc,
    async inject({ system, random, thorough }) {
      await holdStopped(system.part(part).pid(), random.between(1_000, thorough ? 30_000 : 2_500));
    },
  };
}

async function holdStopped(pid: number, heldMs: number): Promise<void> {
  // The parent first: it makes no more children then.
  signalAll([pid], 'SIGSTOP');
  const pids = processTree(pid);
  signalAll(pids, 'SIGSTOP');
  await sleep(heldMs);
  signalAll(pids, 'SIGCONT');
}

export const pauseIngest = pause('ingest-1', 'pause of ingest');
export const pauseWriter = pause('writer-1', 'pause of the writer');
export const pauseNats = pause('nats-1', 'pause of nats-server');
export const pausePostgres = pause('postgres', 'pause of Postgres');

/** What the paused writer holds is given to the other one meanwhile, and so is written twice. */
export const pauseWriterPastAckWait: Fault = {
  name: 'pause-writer-past-ack-wait',
  row: 2,
  title: 'pause of one of two writers, longer than ack_wait',
  system: { ingests: 2, writers: 2 },
  findObstacle: findMissingProc,
  unavailableMsMax: 1_000,
  async inject({ system, random }) {
    const writer = system.part(random.pick(['writer-1', 'writer-2']));
    await holdStopped(writer.pid(), ackWaitMs + random.between(500, 2_000));
  },
};
