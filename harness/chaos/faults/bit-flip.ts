import { globSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../random.ts';
import { until } from '../../wait.ts';
import type { Fault, FaultRun } from '../fault.ts';

/** The time until the alarm, counted from the restart of nats-server (fault matrix, row 14). */
const alarmMsMax = 10_000;

/** How long the writer may take for the messages that are still readable. */
const settleTimeoutMs = 20_000;

type Damage = (block: string, random: Random) => void;

/**
 * The store of a single nats-server is damaged while it is down and has accepted batches. The damaged
 * messages are lost: ingest must raise an alarm and reject events, and accept again when the operator has
 * replaced the queue.
 */
function damage(fault: Pick<Fault, 'name' | 'title'>, damageBlock: Damage): Fault {
  return {
    ...fault,
    row: 14,
    mayLose: true,
    discardsSystem: true,
    async inject(run) {
      await fillQueue(run);
      await damageNats(run, damageBlock);
      run.note(`alarm after ${Math.round(await untilAlarm(run))} ms`);
      run.system.process('writer-1').release();
      await untilRead(run);
      await replaceQueue(run);
    },
  };
}

/** Stops the writer, so that accepted batches are only in the queue. */
async function fillQueue({ system, journal, random }: FaultRun): Promise<void> {
  const writer = system.process('writer-1');
  writer.hold();
  await writer.stop();
  await journal.untilAccepted(random.between(40, 120));
}

async function damageNats(run: FaultRun, damageBlock: Damage): Promise<void> {
  const nats = run.system.process('nats-1');
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

/**
 * More than the clients' unanswered batches, so that an acknowledged batch is torn: otherwise nothing is lost
 * and no alarm is due.
 */
const inFlightBytesMax = 64 * 1024;

export const tornTail = damage(
  { name: 'torn-tail', title: 'the last writes to the queue of a single nats-server are torn' },
  (block, random) => {
    const { length } = readFileSync(block);
    truncateSync(block, Math.max(0, length - inFlightBytesMax - random.between(1, 2_000)));
  },
);

/** One of three replicas is damaged: the other two have everything that was acknowledged. */
export const bitFlipCluster: Fault = {
  name: 'bit-flip-cluster',
  row: 14,
  title: 'a bit flips in the queue of one of three nats-servers',
  system: { natsServers: 3 },
  discardsSystem: true,
  async inject(run) {
    await fillQueue(run);
    await damageNats(run, flipBit);
    run.system.process('writer-1').release();
  },
};

function storeOf({ system }: FaultRun): string {
  return join(system.directory, 'nats-1', 'jetstream');
}

function lastBlock(run: FaultRun): string {
  const blocks = globSync(join(storeOf(run), '*/streams/WEIR_LOG*/msgs/*.blk'));
  const number = (path: string) => Number(/(\d+)\.blk$/.exec(path)?.[1]);
  const last = blocks.sort((a, b) => number(a) - number(b)).at(-1);
  if (last === undefined) throw new Error('the queue has no block file');
  return last;
}

/** Waits for the alarm in the log and in the readiness. @returns the time it took in milliseconds. */
async function untilAlarm({ system, slack }: FaultRun): Promise<number> {
  const startedMs = performance.now();
  const ingest = system.process('ingest-1');
  await until(
    async () => ingest.roundLog().includes('ALARM') && (await isUnready(`${system.ingestUrls[0]}/readyz`)),
    alarmMsMax * slack,
    'ingest raised no alarm',
  );
  return performance.now() - startedMs;
}

async function isUnready(url: string): Promise<boolean> {
  const { waitingFor } = (await (await fetch(url)).json()) as { waitingFor: string[] };
  return waitingFor.includes('queue-loss');
}

/** Waits until nats-server has no more messages for the writer. */
async function untilRead({ system }: FaultRun): Promise<void> {
  const deadlineMs = performance.now() + settleTimeoutMs;
  const url = new URL('/jsz?consumers=1', system.monitorUrls[0]);
  const isRead = async () => {
    const report = await (await fetch(url)).text();
    return !/"num_(pending|ack_pending)": [1-9]/.test(report);
  };
  await system.process('writer-1').untilRunning();
  // A damaged message may stay undeliverable: then the time-out ends the wait.
  while (!(await isRead()) && performance.now() < deadlineMs) await sleep(100);
}

/** The operator's procedure (ADR 12): stop everything, remove the store, start everything. */
async function replaceQueue(run: FaultRun): Promise<void> {
  const stopped = ['ingest-1', 'writer-1', 'nats-1'].map((name) => run.system.process(name));
  for (const one of stopped) {
    one.hold();
    await one.stop();
  }
  rmSync(storeOf(run), { recursive: true });
  for (const one of stopped.toReversed()) {
    one.release();
    await one.untilRunning();
  }
}
