import { createRandom, type Random } from '../../lib/random.ts';
import type { Fault } from './fault.ts';
import { abandonedRound, type Round, type RoundOptions, runRound } from './round.ts';
import { type Surroundings, type System, type SystemOptions, startSystem, usualSystem } from './system.ts';

/** What a whole run is told. */
export interface ChaosOptions {
  faults: readonly Fault[];
  seed: number;
  /** How long to go on; absent, every fault is injected once. */
  minutes?: number;
  slack: number;
  surroundings: Surroundings;
  signal: AbortSignal;
  /** Told every round as it ends. */
  onRound(round: Round): void;
}

/** A fault that this machine cannot have, and why. */
export interface Skipped {
  fault: Fault;
  reason: string;
}

/** Asks every fault whether it can be had here. */
export async function findSkipped(faults: readonly Fault[]): Promise<Skipped[]> {
  const reasons = await Promise.all(faults.map((fault) => fault.findObstacle?.()));
  return faults.flatMap((fault, i) => {
    const reason = reasons[i];
    return reason === undefined ? [] : [{ fault, reason }];
  });
}

/**
 * Injects the faults in a seeded order, again and again while there is time, each at least once. Faults that need the
 * same system have it in turn.
 */
export async function runChaos(options: ChaosOptions): Promise<void> {
  const { faults, seed, minutes, signal } = options;
  const random = createRandom(seed);
  const endMs = performance.now() + (minutes ?? 0) * 60_000;
  const thorough = minutes !== undefined;
  await using systems = new SystemInTurn(options.surroundings);
  for (let cycle = 0; cycle === 0 || performance.now() < endMs; cycle++) {
    for (const fault of arrange(faults, random)) {
      if (signal.aborted || (cycle > 0 && performance.now() > endMs)) return;
      options.onRound(await systems.run(fault, { random, thorough, slack: options.slack, signal }));
    }
  }
}

/** Those with equal systems one after another; the systems, and the faults of each, in an order by chance. */
export function arrange(faults: readonly Fault[], random: Random): Fault[] {
  const groups = [...Map.groupBy(faults, systemKey).values()];
  return shuffle(groups, random).flatMap((group) => shuffle(group, random));
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const shuffled = [...items];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = random.between(0, i);
    [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
  }
  return shuffled;
}

/** Equal for faults that can share a system. A function in the options makes a system the fault's own. */
export function systemKey(fault: Fault): string {
  const options = systemOptionsOf(fault);
  return options.storeOf ? fault.name : JSON.stringify(Object.entries(options).sort());
}

function systemOptionsOf(fault: Fault): SystemOptions {
  return { ...usualSystem, ...fault.system };
}

/** One system at a time: kept while faults can share it and nothing was found wrong with it. */
export class SystemInTurn implements AsyncDisposable {
  readonly #surroundings: Surroundings;
  #current: { key: string; system: System } | undefined;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** Never rejects: what keeps a round from being run is a violation, and the next fault gets a new system. */
  async run(fault: Fault, options: RoundOptions): Promise<Round> {
    let round: Round;
    try {
      round = await runRound(fault, await this.#systemFor(fault), options);
    } catch (error) {
      round = abandonedRound(fault, error);
    }
    if (round.violations.length > 0 || fault.spoils || fault.mustLose) await this[Symbol.asyncDispose]();
    return round;
  }

  async #systemFor(fault: Fault): Promise<System> {
    const key = systemKey(fault);
    if (this.#current?.key !== key) {
      await this[Symbol.asyncDispose]();
      this.#current = { key, system: await startSystem(systemOptionsOf(fault), this.#surroundings) };
    }
    return this.#current.system;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.system[Symbol.asyncDispose]();
  }
}
