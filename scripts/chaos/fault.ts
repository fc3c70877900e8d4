import type { Random } from '../../lib/random.ts';
import type { Journal } from './journal.ts';
import type { Load, LoadOptions } from './load.ts';
import type { System, SystemOptions } from './system.ts';

/** One way in which the surroundings, or a part, can fail: a file in faults/. */
export interface Fault {
  /** On the command line, kebab-case. */
  name: string;
  /** Its row in the fault matrix (docs/durability.md). */
  row: number;
  /** What happens, for the table. */
  title: string;
  /** What the system must be made of; faults with equal needs share one running system. */
  system?: Partial<SystemOptions>;
  /** How the load differs from the usual one. */
  load?: Partial<LoadOptions>;
  /** Most milliseconds from the heal to the first 202 after it; default `recoveryMsMax` of round.ts. */
  recoveryMsMax?: number;
  /** Most milliseconds without a 202 in the whole round, for a fault that must not reach ingest; default: no limit. */
  unavailableMsMax?: number;
  /** A control has to lose: the run fails if nothing was lost. Nothing else is asked of it. */
  mustLose?: boolean;
  /** What it destroys is gone (a flipped bit on a single disk): losses and miscounts are reported, and are no violation. */
  mayLose?: boolean;
  /** The system is of no use afterwards, and the next fault gets a new one. Controls imply it. */
  spoils?: boolean;
  /** Why this machine cannot run it; undefined when it can. */
  findObstacle?(): Promise<string | undefined>;
  /**
   * One injection, at full load: breaks something, holds it for a time that `random` gives, heals it. The harness then
   * waits for recovery and measures.
   */
  inject(run: FaultRun): Promise<void>;
  /** Checks of its own, after the drain and before the invariants; returns violations as sentences. */
  verify?(run: FaultRun): Promise<string[]>;
}

/** What a fault works with during one injection. */
export interface FaultRun {
  system: System;
  load: Load;
  journal: Journal;
  random: Random;
  /** The long run: holds may be as long as the fault matrix says. Otherwise a few seconds have to do. */
  thorough: boolean;
  /** Every limit on time is multiplied by it: a machine that does other work too is slower. */
  slack: number;
  log(line: string): void;
  /** Says something below the table: a figure that this fault is about. */
  note(sentence: string): void;
  /** Aborted when the whole run is to stop. */
  signal: AbortSignal;
}
