import { createRandom, type Random } from '../random.ts';
import { defaultSystem, type System, type SystemEnvironment, startSystem } from '../system/system.ts';
import type { SystemOptions } from '../system/system-options.ts';
import type { Fault } from './fault.ts';
import { failedRound, type Round, type RoundOptions, runRound } from './round.ts';

/** How hard a run tests: see `once` and `repeated`. */
export interface ChaosMode extends Pick<RoundOptions, 'thorough' | 'slack' | 'load'> {
  /** How many systems are tested at the same time, each with a fault of its own. */
  systems: number;
}

/**
 * Every fault once, with short holds, a moderate load and generous time limits: for CI and shared machines.
 * Most of a round is waiting, so that a second system costs little.
 */
export const once: ChaosMode = {
  systems: 2,
  thorough: false,
  slack: 4,
  load: { clients: 4, eventsMax: 30, pauseMsMax: 30 },
};

/** The faults repeatedly, at full load, held as long as the fault matrix says. */
export const repeated: ChaosMode = { systems: 1, thorough: true, slack: 1 };

export interface ChaosOptions {
  faults: readonly Fault[];
  seed: number;
  mode: ChaosMode;
  /** How long to repeat the faults; 0 injects each once. */
  minutes: number;
  environment: SystemEnvironment;
  signal: AbortSignal;
  /** Called after every round. */
  onRound(round: Round): void;
}

/** A fault that this machine does not support, and the reason. */
export interface UnsupportedFault {
  fault: Fault;
  reason: string;
}

export async function findUnsupported(faults: readonly Fault[]): Promise<UnsupportedFault[]> {
  const reasons = await Promise.all(faults.map((fault) => fault.checkSupport?.()));
  return faults.flatMap((fault, i) => {
    const reason = reasons[i];
    return reason === undefined ? [] : [{ fault, reason }];
  });
}

/**
 * Injects the faults in an order from the seed, each at least once, and repeats them while time is left.
 * Faults with equal system options run one after another on the same system.
 */
export async function runChaos({ faults, seed, mode, minutes, ...options }: ChaosOptions): Promise<void> {
  const { signal, environment, onRound } = options;
  const random = createRandom(seed);
  const endMs = performance.now() + minutes * 60_000;
  for (let cycle = 0; cycle === 0 || performance.now() < endMs; cycle++) {
    const groups = orderFaults(faults, random);
    const runGroups = async () => {
      await using system = new ReusedSystem(environment);
      for (let group = groups.shift(); group; group = groups.shift()) {
        for (const { fault, seed } of group) {
          if (signal.aborted || (cycle > 0 && performance.now() > endMs)) return;
          onRound(await system.run(fault, { ...mode, random: createRandom(seed), signal }));
        }
      }
    };
    await Promise.all(Array.from({ length: mode.systems }, runGroups));
  }
}

/**
 * Groups the faults by system, those that take longest first, so that none of them ends alone. Otherwise the
 * order, also within each group, is random. Each fault has a seed of its own: with several systems the order
 * in which they draw is not repeatable.
 */
function orderFaults(faults: readonly Fault[], random: Random): { fault: Fault; seed: number }[][] {
  const groups = [...Map.groupBy(faults, systemKey).values()];
  return shuffle(groups, random)
    .toSorted((a, b) => lengthOf(b) - lengthOf(a))
    .map((group) => shuffle(group, random).map((fault) => ({ fault, seed: random.between(0, 2 ** 31) })));
}

const lengthOf = (group: readonly Fault[]) => group.reduce((sum, { length = 1 }) => sum + length, 0);

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const shuffled = [...items];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = random.between(0, i);
    [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
  }
  return shuffled;
}

/** Equal for faults that can share a system. A system with `storeOf`, a function, is never shared. */
function systemKey(fault: Fault): string {
  const options = systemOptionsOf(fault);
  return options.storeOf ? fault.name : JSON.stringify(Object.entries(options).sort());
}

function systemOptionsOf(fault: Fault): SystemOptions {
  return { ...defaultSystem, ...fault.system };
}

/** Runs rounds on one system, as long as the faults can share it and no violation was found. */
export class ReusedSystem implements AsyncDisposable {
  readonly #environment: SystemEnvironment;
  #current: { key: string; system: System } | undefined;

  constructor(environment: SystemEnvironment) {
    this.#environment = environment;
  }

  /** Never rejects: an error in the round is a violation, and the next fault gets a new system. */
  async run(fault: Fault, options: RoundOptions): Promise<Round> {
    const startedMs = performance.now();
    let round: Omit<Round, 'totalMs'>;
    try {
      round = await runRound(fault, await this.#systemFor(fault), options);
    } catch (error) {
      round = failedRound(fault, error);
    }
    if (round.violations.length > 0 || fault.discardsSystem || fault.mustLose)
      await this[Symbol.asyncDispose]();
    return { ...round, totalMs: performance.now() - startedMs };
  }

  async #systemFor(fault: Fault): Promise<System> {
    const key = systemKey(fault);
    if (this.#current?.key !== key) {
      await this[Symbol.asyncDispose]();
      this.#current = { key, system: await startSystem(systemOptionsOf(fault), this.#environment) };
    }
    return this.#current.system;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.system[Symbol.asyncDispose]();
  }
}
