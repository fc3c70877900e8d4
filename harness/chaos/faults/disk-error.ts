import { setTimeout as sleep } from 'node:timers/promises';
import { processTree } from '../../system/process-tree.ts';
import { until } from '../../wait.ts';
import { checkStrace, injectSyscallFault, type SyscallFault } from '../disk/strace.ts';
import type { Fault, FaultRun } from '../fault.ts';

/** The watchdog polls every second, and a start takes less than one more. */
const restartMsMax = 10_000;

/** Under load Postgres writes constantly, so that the injected error occurs soon. */
const errorMsMax = 10_000;

/** nats-server writes its blocks with pwrite64 and flushes them with fsync. */
const natsErrors: readonly [SyscallFault, ...SyscallFault[]] = [
  { syscalls: 'fsync', outcome: 'error=EIO' },
  { syscalls: 'pwrite64', outcome: 'error=ENOSPC' },
  { syscalls: 'pwrite64', outcome: 'error=EIO' },
];

/**
 * Postgres panics when it cannot flush its files, and then recovers. If `fsync` fails too, the recovery also
 * panics and Postgres hangs (launcher/supervise/postgres-watchdog.ts).
 */
const postgresErrors: readonly [SyscallFault, ...SyscallFault[]] = [
  { syscalls: 'fdatasync', outcome: 'error=EIO' },
  { syscalls: 'fsync,fdatasync', outcome: 'error=EIO' },
  { syscalls: 'pwrite64,pwritev', outcome: 'error=ENOSPC' },
];

/** The injection ends with the process. The fault waits until the watchdog has restarted nats-server. */
export const diskErrorNats: Fault = {
  name: 'disk-error-nats',
  row: 5,
  title: 'nats-server: fsync or write fails',
  checkSupport: checkStrace,
  async inject({ system, random, slack, log }) {
    const nats = system.process('nats-1');
    nats.allowExits();
    const before = nats.pid();
    const failure = random.pick(natsErrors);
    await using _ = await injectSyscallFault([before], failure);
    log(`${failure.syscalls}: ${failure.outcome}`);
    await until(
      () => nats.pid() !== before && nats.isRunning(),
      restartMsMax * slack,
      'nats-server was not restarted',
    );
  },
};

/** Ingest does not need Postgres for cached keys; the writer waits. */
export const diskErrorPostgres: Fault = {
  name: 'disk-error-postgres',
  row: 5,
  title: 'Postgres: fsync or write fails',
  checkSupport: checkStrace,
  inject: (run) => failPostgres(run),
};

async function failPostgres({ system, random, thorough, slack, log }: FaultRun): Promise<void> {
  const postgres = system.process('postgres');
  postgres.allowExits();
  const failure = random.pick(postgresErrors);
  await using _ = await injectSyscallFault(processTree(postgres.pid()), failure);
  log(`${failure.syscalls}: ${failure.outcome}`);
  await until(
    () => /Input\/output error|No space left on device/.test(postgres.roundLog()),
    errorMsMax * slack,
    'the injected error did not occur in Postgres',
  );
  await sleep(random.between(1_000, thorough ? 10_000 : 2_500));
}
