import type { Random } from '../random.ts';
import type { System } from '../system/system.ts';
import type { SystemOptions } from '../system/system-options.ts';
import type { Journal } from './load/journal.ts';
import type { Load, LoadOptions } from './load/load.ts';

/** One way in which the environment or a process can fail: a file in faults/. */
export interface Fault {
  /** Its name on the command line, in kebab-case. */
  name: string;
  /** Its row in the fault matrix (docs/durability.md). */
  row: number;
  /** What happens, for the table of results. */
  title: string;
  /** The composition of the system; faults with equal options share one running system. */
  system?: Partial<SystemOptions>;
  /** How many usual faults it takes as long as; default 1. Those that take longest start first. */
  length?: number;
  /** How the load differs from that of the run. */
  load?: Partial<LoadOptions>;
  /** The maximum time from the heal to the next 202; default `recoveryMsMax` of round.ts. */
  recoveryMsMax?: number;
  /**
   * The maximum time without a 202 in the whole round, for a fault that must not affect ingest; default: no
   * limit.
   */
  unavailableMsMax?: number;
  /** For a control: the round fails unless events were lost. Nothing else is checked. */
  mustLose?: boolean;
  /**
   * For a fault that destroys data (a flipped bit on a single disk): losses are reported and are no
   * violation.
   */
  mayLose?: boolean;
  /** The system cannot be used for another fault afterwards. Controls imply it. */
  discardsSystem?: boolean;
  /** Why this machine does not support the fault; undefined when it does. */
  checkSupport?(): Promise<string | undefined>;
  /**
   * Injects the fault once, under load: breaks something, holds it for a time chosen by `random`, and heals
   * it. The harness then waits for the recovery and measures it.
   */
  inject(run: FaultRun): Promise<void>;
  /** Checks specific to the fault, after the queue has drained. Returns violations as sentences. */
  verify?(run: FaultRun): Promise<string[]>;
}

/** The dependencies of a fault during one injection. */
export interface FaultRun {
  system: System;
  load: Load;
  journal: Journal;
  random: Random;
  /** Hold the fault as long as the fault matrix says; otherwise for a few seconds. */
  thorough: boolean;
  /** A factor for every time limit, for machines that run other work. */
  slack: number;
  log(line: string): void;
  /** Adds a sentence below the table of results: a figure that this fault is about. */
  note(sentence: string): void;
  /** Aborted when the whole run must stop. */
  signal: AbortSignal;
}
