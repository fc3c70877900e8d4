import type { Random } from '../../lib/random.ts';
import { drain } from './drain.ts';
import type { Fault, FaultRun } from './fault.ts';
import { type Discrepancies, findDiscrepancies, findViolations } from './invariants.ts';
import { Journal } from './journal.ts';
import { fullLoad, startLoad } from './load.ts';
import { patiently } from './patiently.ts';
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
}

export interface RoundOptions {
  random: Random;
  /** See FaultRun. */
  thorough: boolean;
  /** The limits on recovery are multiplied by it: a machine that does other work too is slower. */
  slack: number;
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

/** Runs one injection under load, and holds the database to what the clients were told. */
export async function runRound(fault: Fault, system: System, options: RoundOptions): Promise<Round> {
  const { random, thorough, slack, signal } = options;
  const journal = new Journal();
  const violations: string[] = [];
  await Promise.all(system.parts.map((part) => part.untilRunning()));
  for (const part of system.parts) part.beginRound();
  await using load = await patiently(() =>
    startLoad({ system, journal, random }, { ...fullLoad, ...fault.load }),
  );
  const log = (line: string) => system.log(`  ${fault.name}: ${line}`);
  const run: FaultRun = { system, load, journal, random, thorough, log, signal };
  await journal.untilAccepted(batchesBefore, patienceMs);
  await fault.inject(run).catch((error: unknown) => {
    violations.push(`it could not be injected: ${error instanceof Error ? error.message : String(error)}`);
  });
  const healedMs = performance.now();
  const recovered = await journal.acceptsAfter(healedMs, patienceMs);
  const recoveryMs = performance.now() - healedMs;
  const limitMs = (fault.recoveryMsMax ?? recoveryMsMax) * slack;
  if (recoveryMs > limitMs) {
    violations.push(
      recovered ? `it took ${Math.round(recoveryMs)} ms to accept again` : `it never accepted again`,
    );
  }
  if (recovered) await journal.untilAccepted(batchesAfter, patienceMs);
  const unavailableMs = journal.longestGapMs();
  await load.stop();
  const drainMs = await drain(system, drainTimeoutMs);
  if (drainMs === undefined) violations.push('the queue did not drain');
  violations.push(...((await fault.verify?.(run)) ?? []));
  const discrepancies = await findDiscrepancies(system, journal);
  violations.push(...(await findViolations(system, journal)));
  const round = {
    ...discrepancies,
    fault,
    acceptedBatches: journal.acceptedBatches,
    unknownOutcomes: journal.unknownOutcomes,
    unavailableMs,
    recoveryMs,
    drainMs: drainMs ?? drainTimeoutMs,
    violations: judge(fault, discrepancies, violations),
  };
  await forgetEvents(system);
  return round;
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
