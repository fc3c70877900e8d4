import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultRun } from '../fault.ts';
import { findSmallDiskObstacle, openSmallDisk, type SmallDisk } from '../small-disk.ts';
import type { SystemOptions } from '../system.ts';

/** A client has its 503 within this (fault matrix, row 7). */
const refusalMsMax = 2_000;

/** Space that returned is used within this. */
const recoveryMsMax = 10_000;

/** How long the load may take to fill what is left of the disk. */
const fillTimeoutMs = 30_000;

interface DiskFull extends Pick<Fault, 'name' | 'title'> {
  part: string;
  mebibytes: number;
  /** What is left when the disk is filled. */
  freeBytes: number;
  system?: Partial<SystemOptions>;
  /** What is seen while it is full. */
  whileFull(run: FaultRun): Promise<void>;
}

/** One part's disk is full, and then has room again. */
function diskFull({ part, mebibytes, freeBytes, system, whileFull, ...fault }: DiskFull): Fault {
  let disk: SmallDisk | undefined;
  return {
    ...fault,
    row: 7,
    recoveryMsMax,
    system: {
      ...system,
      async storeOf(name, resources) {
        if (name !== part) return undefined;
        disk = resources.use(await openSmallDisk(mebibytes));
        return disk.directory;
      },
    },
    findObstacle: findSmallDiskObstacle,
    async inject(run) {
      run.system.part(part).allowExits();
      try {
        await disk?.fill(freeBytes);
        await whileFull(run);
      } finally {
        await disk?.clear();
      }
    },
  };
}

/** The stream may hold more than the disk: nats-server finds out by a write that fails. */
export const diskFullNats = diskFull({
  name: 'disk-full-nats',
  title: 'the disk of nats-server is full',
  part: 'nats-1',
  mebibytes: 48,
  freeBytes: 512 * 1024,
  async whileFull({ load, random, thorough, slack, note }) {
    const [tenant] = load.tenants;
    const deadlineMs = performance.now() + fillTimeoutMs * slack;
    while ((await load.send(tenant, someIds(20))) !== 503) {
      if (performance.now() > deadlineMs) throw new Error('the disk did not fill');
    }
    const holdUntilMs = performance.now() + random.between(2_000, thorough ? 20_000 : 4_000);
    let slowestMs = 0;
    do {
      const startedMs = performance.now();
      const status = await load.send(tenant, someIds(5));
      const tookMs = performance.now() - startedMs;
      slowestMs = Math.max(slowestMs, tookMs);
      if (status !== 503) throw new Error(`it was answered ${status} on a full disk`);
      if (tookMs > refusalMsMax * slack) throw new Error(`its 503 took ${Math.round(tookMs)} ms`);
    } while (performance.now() < holdUntilMs);
    note(`503 within ${Math.round(slowestMs)} ms`);
  },
});

/** What is accepted waits in the queue. */
export const diskFullPostgres = diskFull({
  name: 'disk-full-postgres',
  title: 'the disk of Postgres is full',
  part: 'postgres',
  mebibytes: 512,
  freeBytes: 0,
  // Its WAL must find room on a disk that small.
  system: { postgresSettings: { max_wal_size: '128MB', min_wal_size: '32MB' } },
  async whileFull({ system, random, thorough, slack }) {
    const deadlineMs = performance.now() + fillTimeoutMs * slack;
    while (!system.part('postgres').roundLog().includes('No space left on device')) {
      if (performance.now() > deadlineMs) throw new Error('the disk did not fill');
      await sleep(100);
    }
    await sleep(random.between(3_000, thorough ? 20_000 : 6_000));
  },
});

function someIds(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}
