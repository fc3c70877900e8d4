import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultRun } from '../fault.ts';
import { processTree } from '../process-tree.ts';
import { findStraceObstacle, injectSyscallFault } from '../strace.ts';

const fsyncDelayMs = 100;

/** Resident memory under full load (design §6). */
const megabytesMax = { ingest: 350, writer: 250 } as const;

/** Every fsync of nats-server and of Postgres takes a tenth of a second more: events are still accepted, in bounds. */
export const slowDisk: Fault = {
  name: 'slow-disk',
  row: 6,
  title: `every fsync takes ${fsyncDelayMs} ms more`,
  findObstacle: findStraceObstacle,
  async inject({ system, journal, random, thorough }) {
    for (const part of measured({ system })) writeFileSync(`/proc/${part.pid()}/clear_refs`, '5');
    const pids = [system.part('nats-1').pid(), ...processTree(system.part('postgres').pid())];
    const outcome = `delay_exit=${1_000 * fsyncDelayMs}`;
    await using _ = await injectSyscallFault(pids, { syscalls: 'fsync,fdatasync', outcome });
    const acceptedBefore = journal.acceptedBatches;
    await sleep(random.between(3_000, thorough ? 30_000 : 6_000));
    if (journal.acceptedBatches === acceptedBefore) throw new Error('nothing was accepted on a slow disk');
  },
  async verify(run) {
    return measured(run).flatMap((part) => {
      const megabytes = peakMegabytes(part.pid());
      const max = megabytesMax[part.kind === 'ingest' ? 'ingest' : 'writer'];
      return megabytes > max ? [`${part.name} took ${megabytes} MB, and ${max} are its bound`] : [];
    });
  },
};

function measured({ system }: Pick<FaultRun, 'system'>) {
  return system.parts.filter(({ kind }) => kind === 'ingest' || kind === 'writer');
}

/** The most memory that a process had since its peak was reset. */
function peakMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1_024);
}
