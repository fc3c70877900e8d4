import { setTimeout as sleep } from 'node:timers/promises';
import { processTree } from '../../system/process-tree.ts';
import { checkStrace, injectSyscallFault } from '../disk/strace.ts';
import type { Fault } from '../fault.ts';

const fsyncDelayMs = 100;

/**
 * Every fsync of nats-server and Postgres takes 100 ms longer: events are still accepted, with bounded
 * memory.
 */
export const slowDisk: Fault = {
  name: 'slow-disk',
  row: 6,
  title: `every fsync takes ${fsyncDelayMs} ms longer`,
  checkSupport: checkStrace,
  async inject({ system, journal, random, thorough, note }) {
    const pids = [system.process('nats-1').pid(), ...processTree(system.process('postgres').pid())];
    const outcome = `delay_exit=${1_000 * fsyncDelayMs}`;
    await using _ = await injectSyscallFault(pids, { syscalls: 'fsync,fdatasync', outcome });
    const acceptedBefore = journal.acceptedBatches;
    await sleep(random.between(3_000, thorough ? 30_000 : 6_000));
    const accepted = journal.acceptedBatches - acceptedBefore;
    if (accepted === 0) throw new Error('nothing was accepted on a slow disk');
    note(`${accepted} batches accepted meanwhile`);
  },
};
