import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemOptions } from '../../system/system-options.ts';
import { until } from '../../wait.ts';
import { checkTmpfs, openSmallDisk, type SmallDisk } from '../disk/small-disk.ts';
import type { Fault, FaultRun } from '../fault.ts';
import { freshIds } from '../load/batches.ts';

/** The time within which a client gets its 503 (fault matrix, row 7). */
const rejectionMsMax = 2_000;

/** The time within which events are accepted again after space has returned. */
const recoveryMsMax = 10_000;

/** How long the load may take to fill the rest of the disk. */
const fillTimeoutMs = 30_000;

interface DiskFull extends Pick<Fault, 'name' | 'title'> {
  server: 'nats-1' | 'postgres';
  mebibytes: number;
  /** The free space that is left for the load to fill. */
  freeBytes: number;
  system?: Partial<SystemOptions>;
  /** Waits for the full disk, and checks the system meanwhile. */
  whileFull(run: FaultRun): Promise<void>;
}

/** One server's disk becomes full, and then has space again. */
function diskFull({ server, mebibytes, freeBytes, system, whileFull, ...fault }: DiskFull): Fault {
  let disk: SmallDisk | undefined;
  return {
    ...fault,
    row: 7,
    recoveryMsMax,
    system: {
      ...system,
      async storeOf(name, resources) {
        if (name !== server) return undefined;
        disk = resources.use(await openSmallDisk(mebibytes));
        return disk.directory;
      },
    },
    checkSupport: checkTmpfs,
    async inject(run) {
      run.system.process(server).allowExits();
      try {
        await disk?.fill(freeBytes);
        await whileFull(run);
      } finally {
        await disk?.clear();
      }
    },
  };
}

/**
 * The stream's limit is larger than the disk: nats-server notices it by a failed write. The writer is paused:
 * it would empty the queue as fast as a moderate load fills it.
 */
export const diskFullNats = diskFull({
  name: 'disk-full-nats',
  title: 'the disk of nats-server is full, the writer paused',
  server: 'nats-1',
  mebibytes: 48,
  freeBytes: 512 * 1024,
  async whileFull(run) {
    run.system.process('writer-1').kill('SIGSTOP');
    try {
      await expectRejections(run);
    } finally {
      run.system.process('writer-1').kill('SIGCONT');
    }
  },
});

async function expectRejections({ load, random, thorough, slack, note }: FaultRun): Promise<void> {
  const [tenant] = load.tenants;
  const isFull = async () => (await load.send(tenant, freshIds(20))) === 503;
  await until(isFull, fillTimeoutMs * slack, 'the disk did not become full');
  const holdUntilMs = performance.now() + random.between(2_000, thorough ? 20_000 : 4_000);
  let slowestMs = 0;
  do {
    const startedMs = performance.now();
    const status = await load.send(tenant, freshIds(5));
    const tookMs = performance.now() - startedMs;
    slowestMs = Math.max(slowestMs, tookMs);
    if (status !== 503) throw new Error(`the status was ${status} while the disk was full`);
    if (tookMs > rejectionMsMax * slack) throw new Error(`the 503 took ${Math.round(tookMs)} ms`);
  } while (performance.now() < holdUntilMs);
  note(`503 within ${Math.round(slowestMs)} ms`);
}

/** Accepted events wait in the queue. */
export const diskFullPostgres = diskFull({
  name: 'disk-full-postgres',
  title: 'the disk of Postgres is full',
  server: 'postgres',
  mebibytes: 512,
  freeBytes: 0,
  // So that the WAL fits on a small disk.
  system: { postgresSettings: { max_wal_size: '128MB', min_wal_size: '32MB' } },
  async whileFull({ system, random, thorough, slack }) {
    const postgres = system.process('postgres');
    await until(
      () => postgres.roundLog().includes('No space left on device'),
      fillTimeoutMs * slack,
      'the disk did not become full',
    );
    await sleep(random.between(3_000, thorough ? 20_000 : 6_000));
  },
});
