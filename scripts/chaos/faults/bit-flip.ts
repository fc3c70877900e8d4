import { globSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../lib/random.ts';
import type { Fault, FaultRun } from '../fault.ts';

/** The alarm is raised within this, from when nats-server runs again (fault matrix, row 14). */
const alarmMsMax = 10_000;

/** How long the writer may take for what can still be read. */
const settleTimeoutMs = 20_000;

type Damage = (block: string, random: Random) => void;

/**
 * The store of a single nats-server is damaged while it is down, with accepted batches in it. What it destroys is lost;
 * ingest must say so and refuse, and accept again when the operator has given it a new queue.
 */
function damage(fault: Pick<Fault, 'name' | 'title'>, damageBlock: Damage): Fault {
  return {
    ...fault,
    row: 14,
    mayLose: true,
    spoils: true,
    async inject(run) {
      await fillQueue(run);
      await damageNats(run, damageBlock);
      run.note(`alarm after ${Math.round(await untilAlarm(run))} ms`);
      run.system.part('writer-1').release();
      await untilRead(run);
      await renewQueue(run);
    },
  };
}

/** The writer is away, so that accepted batches are in the queue and nowhere else. */
async function fillQueue({ system, journal, random }: FaultRun): Promise<void> {
  const writer = system.part('writer-1');
  writer.hold();
  await writer.stop();
  await journal.untilAccepted(random.between(40, 120));
}

async function damageNats(run: FaultRun, damageBlock: Damage): Promise<void> {
  const nats = run.system.part('nats-1');
  nats.hold();
  nats.kill('SIGKILL');
  await nats.untilDown();
  damageBlock(lastBlock(run), run.random);
  nats.release();
  await nats.untilRunning();
}

function flipBit(block: string, random: Random): void {
  const bytes = readFileSync(block);
  const place = random.between(0, bytes.length - 1);
  bytes.writeUInt8(bytes.readUInt8(place) ^ (1 << random.between(0, 7)), place);
  writeFileSync(block, bytes);
}

export const bitFlip = damage(
  { name: 'bit-flip', title: 'a bit flips in the queue of a single nats-server' },
  flipBit,
);

export const tornTail = damage(
  { name: 'torn-tail', title: 'the last write to the queue of a single nats-server is torn' },
  (block, random) => {
    const { length } = readFileSync(block);
    truncateSync(block, Math.max(0, length - random.between(1, 2_000)));
  },
);

/** Of three copies one is damaged: the other two have what was acknowledged. */
export const bitFlipCluster: Fault = {
  name: 'bit-flip-cluster',
  row: 14,
  title: 'a bit flips in the queue of one of three nats-servers',
  system: { natsServers: 3 },
  spoils: true,
  async inject(run) {
    await fillQueue(run);
    await damageNats(run, flipBit);
    run.system.part('writer-1').release();
  },
};

function storeOf({ system }: FaultRun): string {
  return join(system.directory, 'nats-1', 'jetstream');
}

function lastBlock(run: FaultRun): string {
  const blocks = globSync(join(storeOf(run), '*/streams/WEIR*/msgs/*.blk'));
  const number = (path: string) => Number(/(\d+)\.blk$/.exec(path)?.[1]);
  const last = blocks.sort((a, b) => number(a) - number(b)).at(-1);
  if (last === undefined) throw new Error('the queue has no block');
  return last;
}

/** Until readiness tells, and the log. @returns how long it took in milliseconds. */
async function untilAlarm({ system, slack }: FaultRun): Promise<number> {
  const startedMs = performance.now();
  const ingest = system.part('ingest-1');
  while (!ingest.roundLog().includes('ALARM') || !(await isUnready(`${system.ingestUrls[0]}/readyz`))) {
    if (performance.now() - startedMs > alarmMsMax * slack) throw new Error('there was no alarm in time');
    await sleep(20);
  }
  return performance.now() - startedMs;
}

async function isUnready(url: string): Promise<boolean> {
  const { waitingFor } = (await (await fetch(url)).json()) as { waitingFor: string[] };
  return waitingFor.includes('queue-loss');
}

/** Until the writer has nothing left that nats-server delivers to it. */
async function untilRead({ system }: FaultRun): Promise<void> {
  const deadlineMs = performance.now() + settleTimeoutMs;
  const url = new URL('/jsz?consumers=1', system.monitorUrls[0]);
  const isRead = async () => {
    const answer = await (await fetch(url)).text();
    return !/"num_(pending|ack_pending)": [1-9]/.test(answer);
  };
  await system.part('writer-1').untilRunning();
  while (!(await isRead()) && performance.now() < deadlineMs) await sleep(100);
}

/** What the operator does about it (ADR 12): everything stops, the store is moved away, everything starts. */
async function renewQueue(run: FaultRun): Promise<void> {
  const parts = ['ingest-1', 'writer-1', 'nats-1'].map((name) => run.system.part(name));
  for (const part of parts) {
    part.hold();
    await part.stop();
  }
  rmSync(storeOf(run), { recursive: true });
  for (const part of parts.toReversed()) {
    part.release();
    await part.untilRunning();
  }
}
