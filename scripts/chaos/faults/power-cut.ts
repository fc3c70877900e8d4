import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultRun } from '../fault.ts';
import { findLoopObstacle, type LoopDisk, openLoopDisk } from '../loop-disk.ts';
import { pauseTree, signalAll, untilGone } from '../process-tree.ts';
import type { SystemOptions } from '../system.ts';

interface PowerCut extends Pick<Fault, 'name' | 'row' | 'title' | 'mustLose'> {
  /** The parts whose power is cut, all at once. */
  parts: readonly string[];
  system?: Partial<SystemOptions>;
  /** Makes sure that the cut finds something that only these parts have; what it returns ends that. */
  arrange(run: FaultRun): Promise<() => void>;
}

/**
 * The power of some parts fails: they are paused, what their disks hold without what was not fsynced is taken, and they
 * start again on that.
 */
function powerCut({ parts, system, arrange, ...fault }: PowerCut): Fault {
  const disks = new Map<string, LoopDisk>();
  return {
    ...fault,
    system: {
      ...system,
      async storeOf(part, resources) {
        if (!parts.includes(part)) return undefined;
        const disk = resources.use(await openLoopDisk());
        disks.set(part, disk);
        return disk.directory;
      },
    },
    findObstacle: findLoopObstacle,
    async inject(run) {
      const cut = parts.map((name) => ({ part: run.system.part(name), disk: diskOf(disks, name) }));
      // A control shall lose what comes from now on, and not what the system is made of.
      if (fault.mustLose) {
        await run.system.sql`CHECKPOINT`;
        await Promise.all(cut.map(({ disk }) => disk.sync()));
      }
      const heal = await arrange(run);
      for (const { part } of cut) part.hold();
      const doomed = (await Promise.all(cut.map(({ part }) => pauseTree(part.pid())))).flat();
      await Promise.all(cut.map(({ disk }) => disk.snapshot()));
      run.log(`the power of ${parts.join(', ')} fails`);
      for (const { part } of cut) part.kill('SIGKILL');
      signalAll(doomed, 'SIGKILL');
      await untilGone(doomed);
      await Promise.all(cut.map(({ part }) => part.untilDown()));
      await Promise.all(cut.map(({ disk }) => disk.revert()));
      for (const { part } of cut) part.release();
      await Promise.all(cut.map(({ part }) => part.untilRunning()));
      heal();
    },
  };
}

function diskOf(disks: ReadonlyMap<string, LoopDisk>, name: string): LoopDisk {
  const disk = disks.get(name);
  if (disk === undefined) throw new Error(`${name} has no disk of its own`);
  return disk;
}

/** The writer is away, so that accepted batches are in the queue and nowhere else. */
async function fillQueue({ system, journal, random }: FaultRun): Promise<() => void> {
  const writer = system.part('writer-1');
  writer.hold();
  await writer.stop();
  await journal.untilAccepted(random.between(40, 120));
  return () => writer.release();
}

/** Ingest falls with nats-server, as on one machine: it remembers no sequence, so it goes on with what is left. */
async function fillQueueForgetting(run: FaultRun): Promise<() => void> {
  const heal = await fillQueue(run);
  const ingest = run.system.part('ingest-1');
  ingest.hold();
  ingest.kill('SIGKILL');
  await ingest.untilDown();
  return () => {
    ingest.release();
    heal();
  };
}

/** The writer commits, and the queue lets go of what it has committed. */
async function storeSome({ journal, random }: FaultRun): Promise<() => void> {
  await journal.untilAccepted(random.between(40, 120));
  await sleep(random.between(300, 1_000));
  return () => {};
}

export const powerCutNats = powerCut({
  name: 'power-cut-nats',
  row: 3,
  title: 'power cut of nats-server, one node',
  parts: ['nats-1'],
  arrange: fillQueue,
});

export const powerCutCluster = powerCut({
  name: 'power-cut-cluster',
  row: 3,
  title: 'power cut of three nats-servers at once',
  parts: ['nats-1', 'nats-2', 'nats-3'],
  system: { natsServers: 3 },
  arrange: fillQueue,
});

export const powerCutNatsUnsynced = powerCut({
  name: 'power-cut-nats-unsynced',
  row: 3,
  title: 'power cut of nats-server with its default sync_interval',
  mustLose: true,
  parts: ['nats-1'],
  system: { natsSyncInterval: '2m' },
  arrange: fillQueueForgetting,
});

export const powerCutClusterUnsynced = powerCut({
  name: 'power-cut-cluster-unsynced',
  row: 3,
  title: 'power cut of three nats-servers with their default sync_interval',
  mustLose: true,
  parts: ['nats-1', 'nats-2', 'nats-3'],
  system: { natsServers: 3, natsSyncInterval: '2m' },
  arrange: fillQueueForgetting,
});

export const powerCutPostgres = powerCut({
  name: 'power-cut-postgres',
  row: 4,
  title: 'power cut of Postgres',
  parts: ['postgres'],
  arrange: storeSome,
});

export const powerCutPostgresUnsynced = powerCut({
  name: 'power-cut-postgres-unsynced',
  row: 4,
  title: 'power cut of Postgres with fsync=off',
  mustLose: true,
  parts: ['postgres'],
  system: { postgresSettings: { fsync: 'off' } },
  arrange: storeSome,
});
