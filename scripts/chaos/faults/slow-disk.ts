import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import { processTree } from '../process-tree.ts';
import { findStraceObstacle, injectSyscallFault } from '../strace.ts';

const fsyncDelayMs = 100;

/** Every fsync of nats-server and of Postgres takes a tenth of a second more: events are still accepted, in bounds. */
export const slowDisk: Fault = {
  name: 'slow-disk',
  row: 6,
  title: `every fsync takes ${fsyncDelayMs} ms more`,
  findObstacle: findStraceObstacle,
  async inject({ system, journal, random, thorough, note }) {
    const pids = [system.part('nats-1').pid(), ...processTree(system.part('postgres').pid())];
    const outcome = `delay_exit=${1_000 * fsyncDelayMs}`;
    await using _ = await injectSyscallFault(pids, { syscalls: 'fsync,fdatasync', outcome });
    const acceptedBefore = journal.acceptedBatches;
    await sleep(random.between(3_000, thorough ? 30_000 : 6_000));
    const accepted = journal.acceptedBatches - acceptedBefore;
    if (accepted === 0) throw new Error('nothing was accepted on a slow disk');
    note(`${accepted} batches accepted meanwhile`);
  },
};
