import type { Random } from '../../lib/random.ts';
import { drain } from './drain.ts';
import type { Fault, FaultRun } from './fault.ts';
import { type Discrepancies, findAlarms, findDiscrepancies, findViolations } from './invariants.ts';
import { Journal } from './journal.ts';
import { fullLoad, type LoadOptions, startLoad } from './load.ts';
import { patiently } from './patiently.ts';
import { findLeakedConnections, watchMemory } from './resources.ts';
import type { System } from './system.ts';

/** One injection of one fault, with everything before and after it. */
export interface Round extends Discrepancies {
  fault: Fault;
  /** Requests answered with 202, and requests that nobody knows the outcome of. */
  acceptedBatches: number;
  unknownOutcomes: number;
  /** The longest time without a 202. */
  unavailableMs: number;
  /** From the heal to the first 202. */
  recoveryMs: number;
  /** From the end of the load until everything was stored. */
  drainMs: number;
  violations: string[];
  /** What the fault has to say beside the figures. */
  notes: string[];
}

export interface RoundOptions {
  random: Random;
  /** See FaultRun. */
  thorough: boolean;
  /** The limits on recovery are multiplied by it: a machine that does other work too is slower. */
  slack: number;
  /** What of the full load is different in this run; a fault's own wishes come before it. */
  load?: Partial<LoadOptions>;
  signal: AbortSignal;
}

/** From the heal to the first 202 (reliability: accepting again within it after any single crash). */
const recoveryMsMax = 5_000;

/** How long a round waits for what should come at once, before it calls it a violation. */
const patienceMs = 60_000;
const drainTimeoutMs = 180_000;

/** Batches accepted before the fault, so that it meets a system at work, and after it, so that it is at work again. */
const batchesBefore = 60;
const batchesAfter = 40;

const none: Discrepancies = { lost: 0, duplicated: 0, refusedButStored: 0, miscounted: 0 };

/** Runs one injection under load, and holds the database to what the clients were told. */
export async function runRound(fault: Fault, system: System, options: RoundOptions): Promise<Round> {
  await Promise.all(system.parts.map((part) => part.untilRunning()));
  for (const part of system.parts) part.beginRound();
  using memory = watchMemory(system);
  const journal = new Journal();
  const violations: string[] = [];
  const notes: string[] = [];
  const { random, thorough, slack, signal } = options;
  await using load = await patiently(() =>
    startLoad({ system, journal, random }, { ...fullLoad, ...options.load, ...fault.load }),
  );
  const log = (line: string) => system.log(`  ${fault.name}: ${line}`);
  const note = (sentence: string) => void notes.push(sentence);
  const run: FaultRun = { system, load, journal, random, thorough, slack, log, note, signal };
  const findings = (found: readonly string[] = []) => void violations.push(...found);
  const times = { unavailableMs: 0, recoveryMs: 0, drainMs: 0 };
  let discrepancies = none;
  const stages: Record<string, () => Promise<void>> = {
    'could not be injected': async () => {
      await journal.untilAccepted(batchesBefore, patienceMs);
      await fault.inject(run);
    },
    'left it in ruins': async () => findings(await measureRecovery(fault, run, times, options.slack)),
    'could not be stopped': () => load.stop(),
    'did not drain': async () => {
      times.drainMs = await drain(system, drainTimeoutMs);
    },
    'could not be verified': async () => findings(await fault.verify?.(run)),
    'could not be checked': async () => {
      discrepancies = await findDiscrepancies(system, journal);
      findings(await findViolations(system, journal));
      if (!fault.mayLose) findings(findAlarms(system));
      findings([...memory.violations(), ...(await findLeakedConnections(system))]);
      await forgetEvents(system);
    },
  };
  for (const [failure, run] of Object.entries(stages)) {
    await run().catch((error: unknown) => findings([`${failure}: ${describe(error)}`]));
  }
  const { acceptedBatches, unknownOutcomes } = journal;
  const judged = judge(fault, discrepancies, violations);
  return { fault, acceptedBatches, unknownOutcomes, ...discrepancies, ...times, notes, violations: judged };
}

/** What is told of a round that could not be run at all. */
export function abandonedRound(fault: Fault, error: unknown): Round {
  return {
    fault,
    acceptedBatches: 0,
    unknownOutcomes: 0,
    ...none,
    unavailableMs: 0,
    recoveryMs: 0,
    drainMs: 0,
    notes: [],
    violations: [`could not be run: ${describe(error)}`],
  };
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** From the heal, which is now, until ingest is at work again. */
async function measureRecovery(
  fault: Fault,
  { journal }: FaultRun,
  times: { unavailableMs: number; recoveryMs: number },
  slack: number,
): Promise<string[]> {
  const healedMs = performance.now();
  const recovers = await journal.acceptsAfter(healedMs, patienceMs);
  times.recoveryMs = performance.now() - healedMs;
  if (recovers) await journal.untilAccepted(batchesAfter, patienceMs);
  times.unavailableMs = journal.longestGapMs();
  const { recoveryMs, unavailableMs } = times;
  if (!recovers) return ['it never accepted again'];
  return [
    ...(recoveryMs > (fault.recoveryMsMax ?? recoveryMsMax) * slack
      ? [`it took ${Math.round(recoveryMs)} ms to accept again`]
      : []),
    ...(unavailableMs > (fault.unavailableMsMax ?? Infinity) * slack
      ? [`there was no 202 for ${Math.round(unavailableMs)} ms, although ingest was not concerned`]
      : []),
  ];
}

/** What a control and a fault that destroys data are excused from. */
function judge(fault: Fault, found: Discrepancies, violations: string[]): string[] {
  if (fault.mustLose) {
    return found.lost > 0
      ? []
      : ['nothing was lost, although this control has to lose: the fault does not bite'];
  }
  const { lost, duplicated, refusedButStored, miscounted } = found;
  return [
    ...violations,
    ...(lost > 0 && !fault.mayLose ? [`${lost} accepted events are lost`] : []),
    ...(duplicated > 0 ? [`${duplicated} events are stored that were not sent, or twice`] : []),
    ...(refusedButStored > 0 ? [`${refusedButStored} refused events are stored`] : []),
    ...(miscounted > 0 ? [`usage or statistics are off by ${miscounted} events`] : []),
  ];
}

/** A long run must not fill the disk: what has been checked is of no more use. */
async function forgetEvents({ sql }: System): Promise<void> {
  await patiently(() => sql`TRUNCATE events, segments, event_stats, usage_months, quarantine`);
}
