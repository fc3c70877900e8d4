import { setTimeout as sleep } from 'node:timers/promises';
import { ackWaitMs } from '../../../platform/queue/limits.ts';
import { checkProc, pauseTree, signalAll } from '../../system/process-tree.ts';
import type { Fault } from '../fault.ts';

/** SIGSTOP of one process and its children, and SIGCONT after a while. */
function pause(name: string, title: string): Fault {
  return {
    name: `pause-${name.replace(/-\d$/, '')}`,
    row: 2,
    title,
    checkSupport: checkProc,
    async inject({ system, random, thorough }) {
      await holdStopped(system.process(name).pid(), random.between(1_000, thorough ? 30_000 : 2_500));
    },
  };
}

async function holdStopped(pid: number, heldMs: number): Promise<void> {
  const pids = await pauseTree(pid);
  await sleep(heldMs);
  signalAll(pids, 'SIGCONT');
}

export const pauseIngest = pause('ingest-1', 'pause of ingest');
export const pauseWriter = pause('writer-1', 'pause of the writer');
export const pauseNats = pause('nats-1', 'pause of nats-server');
export const pausePostgres = pause('postgres', 'pause of Postgres');

/** The paused writer's messages are redelivered to the other one, and so are written twice. */
export const pauseWriterPastAckWait: Fault = {
  name: 'pause-writer-past-ack-wait',
  row: 2,
  title: 'pause of one of two writers, longer than ack_wait',
  system: { ingests: 2, writers: 2 },
  checkSupport: checkProc,
  unavailableMsMax: 1_000,
  async inject({ system, random }) {
    const writer = system.process(random.pick(['writer-1', 'writer-2']));
    await holdStopped(writer.pid(), ackWaitMs + random.between(500, 2_000));
  },
};
