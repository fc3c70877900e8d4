import { messageOf } from '../../platform/thrown.ts';
import { countQueued } from '../queued.ts';
import type { Random } from '../random.ts';
import type { System } from '../system/system.ts';
import { retry, until } from '../wait.ts';
import type { Fault, FaultRun } from './fault.ts';
import { Journal } from './load/journal.ts';
import { fullLoad, type LoadOptions, startLoad } from './load/load.ts';
import { type Discrepancies, findAlarms, findDiscrepancies, findViolations } from './verify/invariants.ts';
import { findLeakedConnections, watchMemory } from './verify/resources.ts';

/** The result of one injection of one fault. */
export interface Round extends Discrepancies {
  fault: Fault;
  /** Requests answered with 202, and requests whose outcome the client does not know. */
  acceptedBatches: number;
  unknownOutcomes: number;
  /** The longest time without a 202. */
  unavailableMs: number;
  /** From the heal to the next 202. */
  recoveryMs: number;
  /** From the end of the load until everything was stored. */
  drainMs: number;
  /** The whole round, with the start of its system. */
  totalMs: number;
  violations: string[];
  /** Figures that the fault reports in addition to the columns. */
  notes: string[];
}

export interface RoundOptions {
  random: Random;
  /** See FaultRun. */
  thorough: boolean;
  /** See FaultRun. */
  slack: number;
  /** How the load differs from the full load; a fault's own options override it. */
  load?: Partial<LoadOptions>;
  signal: AbortSignal;
}

/** From the heal to the next 202: after any single crash, events are accepted again within this time. */
const recoveryMsMax = 5_000;

/** How long a round waits for what should happen immediately, before it is a violation. */
const responseTimeoutMs = 60_000;
const drainTimeoutMs = 180_000;

/**
 * Batches accepted before the injection, so that the system is under load, and after it, to see that it works
 * again.
 */
const batchesBefore = 60;
const batchesAfter = 40;

const noDiscrepancies: Discrepancies = { lost: 0, duplicated: 0, rejectedButStored: 0, miscounted: 0 };

/** Runs one injection under load, and compares the database with the responses that the clients got. */
export async function runRound(
  fault: Fault,
  system: System,
  options: RoundOptions,
): Promise<Omit<Round, 'totalMs'>> {
  await Promise.all(system.processes.map((one) => one.untilRunning()));
  for (const one of system.processes) one.beginRound();
  using memory = watchMemory(system);
  const journal = new Journal();
  const violations: string[] = [];
  const notes: string[] = [];
  const { random, thorough, slack, signal } = options;
  await using load = await retry(() =>
    startLoad({ system, journal, random }, { ...fullLoad, ...options.load, ...fault.load }),
  );
  const log = (line: string) => system.log(`  ${fault.name}: ${line}`);
  const note = (sentence: string) => void notes.push(sentence);
  const run: FaultRun = { system, load, journal, random, thorough, slack, log, note, signal };
  const add = (found: readonly string[] = []) => void violations.push(...found);
  const times = { unavailableMs: 0, recoveryMs: 0, drainMs: 0 };
  let discrepancies = noDiscrepancies;
  const stages: Record<string, () => Promise<void>> = {
    'the injection failed': async () => {
      await journal.untilAccepted(batchesBefore, responseTimeoutMs);
      await fault.inject(run);
    },
    'the system did not recover': async () => add(await measureRecovery(fault, run, times)),
    'the load could not be stopped': () => load.stop(),
    'the queue did not drain': async () => {
      times.drainMs = await drain(system, drainTimeoutMs);
    },
    "the fault's own check failed": async () => add(await fault.verify?.(run)),
    'the invariants could not be checked': async () => {
      discrepancies = await findDiscrepancies(system, journal);
      add(await findViolations(system, journal));
      if (!fault.mayLose) add(findAlarms(system));
      add([...memory.violations(), ...(await findLeakedConnections(system))]);
      await truncateEvents(system);
    },
  };
  for (const [failure, runStage] of Object.entries(stages)) {
    await runStage().catch((error: unknown) => add([`${failure}: ${describe(error)}`]));
  }
  const { acceptedBatches, unknownOutcomes } = journal;
  return {
    fault,
    acceptedBatches,
    unknownOutcomes,
    ...discrepancies,
    ...times,
    notes,
    violations: judge(fault, discrepancies, violations),
  };
}

/** The result of a round that could not be run. */
export function failedRound(fault: Fault, error: unknown): Omit<Round, 'totalMs'> {
  return {
    fault,
    acceptedBatches: 0,
    unknownOutcomes: 0,
    ...noDiscrepancies,
    unavailableMs: 0,
    recoveryMs: 0,
    drainMs: 0,
    notes: [],
    violations: [`the round could not be run: ${describe(error)}`],
  };
}

const describe = (error: unknown) => messageOf(error);

/** Called at the heal: waits until ingest works again. */
async function measureRecovery(
  fault: Fault,
  { journal, slack }: FaultRun,
  times: { unavailableMs: number; recoveryMs: number },
): Promise<string[]> {
  const healedMs = performance.now();
  const hasRecovered = await journal.acceptsAfter(healedMs, responseTimeoutMs);
  times.recoveryMs = performance.now() - healedMs;
  if (hasRecovered) await journal.untilAccepted(batchesAfter, responseTimeoutMs);
  times.unavailableMs = journal.longestGapMs();
  const { recoveryMs, unavailableMs } = times;
  if (!hasRecovered) return ['nothing was accepted after the heal'];
  return [
    ...(recoveryMs > (fault.recoveryMsMax ?? recoveryMsMax) * slack
      ? [`the first 202 came ${Math.round(recoveryMs)} ms after the heal`]
      : []),
    ...(unavailableMs > (fault.unavailableMsMax ?? Infinity) * slack
      ? [`there was no 202 for ${Math.round(unavailableMs)} ms, although the fault must not affect ingest`]
      : []),
  ];
}

/** Applies the exceptions for controls, and for faults that destroy data. */
function judge(fault: Fault, found: Discrepancies, violations: string[]): string[] {
  if (fault.mustLose) {
    return found.lost > 0 ? [] : ['the control lost nothing: the injected fault has no effect'];
  }
  const { lost, duplicated, rejectedButStored, miscounted } = found;
  return [
    ...violations,
    ...(lost > 0 && !fault.mayLose ? [`${lost} accepted events are lost`] : []),
    ...(duplicated > 0 ? [`${duplicated} stored events are duplicates or were never sent`] : []),
    ...(rejectedButStored > 0 ? [`${rejectedButStored} rejected events are stored`] : []),
    ...(miscounted > 0 ? [`usage or statistics are wrong by ${miscounted} events`] : []),
  ];
}

/** Checked events are deleted, so that a long run does not fill the disk. */
async function truncateEvents({ sql }: System): Promise<void> {
  await retry(() => sql`TRUNCATE events, segments, statistic_deltas, event_stats, usage_months, quarantine`);
}

/**
 * Waits until nothing waits in the queue: everything accepted is stored or in quarantine.
 *
 * @returns the time it took in milliseconds.
 * @throws Error after the time-out.
 */
async function drain(system: Pick<System, 'monitorUrls'>, timeoutMs: number): Promise<number> {
  const startedMs = performance.now();
  let queued: number | undefined;
  await until(
    async () => {
      queued = await countQueued(system.monitorUrls);
      return queued === 0;
    },
    timeoutMs,
    () => `the queue still holds ${queued ?? 'an unknown number of'} messages`,
  );
  return performance.now() - startedMs;
}
