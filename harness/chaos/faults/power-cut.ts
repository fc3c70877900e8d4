import { setTimeout as sleep } from 'node:timers/promises';
import { pauseTree, signalAll, untilGone } from '../../system/process-tree.ts';
import type { SystemOptions } from '../../system/system-options.ts';
import { checkLoopDevices, type LoopDisk, openLoopDisk } from '../disk/loop-disk.ts';
import type { Fault, FaultRun } from '../fault.ts';

interface PowerCut extends Pick<Fault, 'name' | 'row' | 'title' | 'mustLose'> {
  /** The servers whose power is cut at the same time. */
  servers: readonly string[];
  system?: Partial<SystemOptions>;
  /** Ensures that data exists only on these servers at the power cut. @returns a function that undoes it. */
  prepare(run: FaultRun): Promise<() => void>;
}

/**
 * Simulates a power cut of some servers: they are paused, their disks are reverted to what was fsynced, and
 * they start again.
 */
function powerCut({ servers, system, prepare, ...fault }: PowerCut): Fault {
  const disks = new Map<string, LoopDisk>();
  return {
    ...fault,
    system: {
      ...system,
      async storeOf(server, resources) {
        if (!servers.includes(server)) return undefined;
        const disk = resources.use(await openLoopDisk());
        disks.set(server, disk);
        return disk.directory;
      },
    },
    checkSupport: checkLoopDevices,
    async inject(run) {
      const cut = servers.map((name) => ({ server: run.system.process(name), disk: diskOf(disks, name) }));
      // A control must lose later events, but not the files with which the servers start again.
      if (fault.mustLose) {
        await run.system.sql`CHECKPOINT`;
        await Promise.all(cut.map(({ disk }) => disk.sync()));
      }
      const heal = await prepare(run);
      for (const { server } of cut) server.hold();
      const paused = (await Promise.all(cut.map(({ server }) => pauseTree(server.pid())))).flat();
      await Promise.all(cut.map(({ disk }) => disk.snapshot()));
      run.log(`power cut of ${servers.join(', ')}`);
      for (const { server } of cut) server.kill('SIGKILL');
      signalAll(paused, 'SIGKILL');
      await untilGone(paused);
      await Promise.all(cut.map(({ server }) => server.untilDown()));
      await Promise.all(cut.map(({ disk }) => disk.revert()));
      for (const { server } of cut) server.release();
      await Promise.all(cut.map(({ server }) => server.untilRunning()));
      heal();
    },
  };
}

function diskOf(disks: ReadonlyMap<string, LoopDisk>, name: string): LoopDisk {
  const disk = disks.get(name);
  if (disk === undefined) throw new Error(`${name} has no loop disk`);
  return disk;
}

/** Stops the writer, so that accepted batches are only in the queue. */
async function fillQueue({ system, journal, random }: FaultRun): Promise<() => void> {
  const writer = system.process('writer-1');
  writer.hold();
  await writer.stop();
  await journal.untilAccepted(random.between(40, 120));
  return () => writer.release();
}

/**
 * Kills ingest too, as on one machine: otherwise it would detect the loss by the PubAck sequence and stop
 * accepting.
 */
async function fillQueueAndKillIngest(run: FaultRun): Promise<() => void> {
  const heal = await fillQueue(run);
  const ingest = run.system.process('ingest-1');
  ingest.hold();
  ingest.kill('SIGKILL');
  await ingest.untilDown();
  return () => {
    ingest.release();
    heal();
  };
}

/** Lets the writer commit, so that the queue has deleted what is in Postgres. */
async function storeSome({ journal, random }: FaultRun): Promise<() => void> {
  await journal.untilAccepted(random.between(40, 120));
  await sleep(random.between(300, 1_000));
  return () => {};
}

export const powerCutNats = powerCut({
  name: 'power-cut-nats',
  row: 3,
  title: 'power cut of nats-server, one node',
  servers: ['nats-1'],
  prepare: fillQueue,
});

export const powerCutCluster = powerCut({
  name: 'power-cut-cluster',
  row: 3,
  title: 'power cut of three nats-servers at once',
  servers: ['nats-1', 'nats-2', 'nats-3'],
  system: { natsServers: 3 },
  prepare: fillQueue,
});

export const powerCutNatsUnsynced = powerCut({
  name: 'power-cut-nats-unsynced',
  row: 3,
  title: 'power cut of nats-server with its default sync_interval',
  mustLose: true,
  servers: ['nats-1'],
  system: { natsSyncInterval: '2m' },
  prepare: fillQueueAndKillIngest,
});

export const powerCutClusterUnsynced = powerCut({
  name: 'power-cut-cluster-unsynced',
  row: 3,
  title: 'power cut of three nats-servers with their default sync_interval',
  mustLose: true,
  servers: ['nats-1', 'nats-2', 'nats-3'],
  system: { natsServers: 3, natsSyncInterval: '2m' },
  prepare: fillQueueAndKillIngest,
});

export const powerCutPostgres = powerCut({
  name: 'power-cut-postgres',
  row: 4,
  title: 'power cut of Postgres',
  servers: ['postgres'],
  prepare: storeSome,
});

export const powerCutPostgresUnsynced = powerCut({
  name: 'power-cut-postgres-unsynced',
  row: 4,
  title: 'power cut of Postgres with fsync=off',
  mustLose: true,
  servers: ['postgres'],
  system: { postgresSettings: { fsync: 'off' } },
  prepare: storeSome,
});
