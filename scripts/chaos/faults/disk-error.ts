import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultRun } from '../fault.ts';
import { processTree } from '../process-tree.ts';
import { findStraceObstacle, injectSyscallFault, type SyscallFault } from '../strace.ts';

/** The watchdog looks every second, and a start takes less than one more. */
const restartMsMax = 10_000;

/** Under load Postgres writes all the time. */
const biteMsMax = 10_000;

/** nats-server writes its blocks with pwrite64, and brings them to the disk with fsync. */
const natsErrors: readonly [SyscallFault, ...SyscallFault[]] = [
  { syscalls: 'fsync', outcome: 'error=EIO' },
  { syscalls: 'pwrite64', outcome: 'error=ENOSPC' },
  { syscalls: 'pwrite64', outcome: 'error=EIO' },
];

/**
 * Postgres panics when its files cannot be brought to the disk, and recovers from what is there. With `fsync` among them the
 * recovery panics too, and Postgres does not notice (scripts/start/watch-recovery.ts).
 */
const postgresErrors: readonly [SyscallFault, ...SyscallFault[]] = [
  { syscalls: 'fdatasync', outcome: 'error=EIO' },
  { syscalls: 'fsync,fdatasync', outcome: 'error=EIO' },
  { syscalls: 'pwrite64,pwritev', outcome: 'error=ENOSPC' },
];

/** The error ends with the process that had it: somebody has to start it again, and that is what is waited for. */
export const diskErrorNats: Fault = {
  name: 'disk-error-nats',
  row: 5,
  title: 'nats-server: fsync or write fails',
  findObstacle: findStraceObstacle,
  async inject({ system, random, slack, log }) {
    const part = system.part('nats-1');
    part.allowExits();
    const before = part.pid();
    const failure = random.pick(natsErrors);
    await using _ = await injectSyscallFault([before], failure);
    log(`${failure.syscalls}: ${failure.outcome}`);
    const startedMs = performance.now();
    while (part.pid() === before || !part.isRunning()) {
      if (performance.now() - startedMs > restartMsMax * slack) {
        throw new Error(`nats-server was not started again within ${restartMsMax} ms`);
      }
      await sleep(20);
    }
  },
};

/** Ingest does not need Postgres for keys that it knows; the writer waits. */
export const diskErrorPostgres: Fault = {
  name: 'disk-error-postgres',
  row: 5,
  title: 'Postgres: fsync or write fails',
  findObstacle: findStraceObstacle,
  inject: (run) => failPostgres(run),
};

async function failPostgres({ system, random, thorough, slack, log }: FaultRun): Promise<void> {
  const part = system.part('postgres');
  part.allowExits();
  const failure = random.pick(postgresErrors);
  await using _ = await injectSyscallFault(processTree(part.pid()), failure);
  log(`${failure.syscalls}: ${failure.outcome}`);
  const deadlineMs = performance.now() + biteMsMax * slack;
  while (!/Input\/output error|No space left on device/.test(part.roundLog())) {
    if (performance.now() > deadlineMs) throw new Error('Postgres did not meet the error');
    await sleep(50);
  }
  await sleep(random.between(1_000, thorough ? 10_000 : 2_500));
}
