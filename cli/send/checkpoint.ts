import { hash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { readJson, writePrivateJson } from '../../launcher/data-directory/json-file.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../../launcher/process/process-identity.ts';
import { messageOf } from '../../platform/thrown.ts';
import type { SendCounts } from './send-summary.ts';

/** Bytes at the start of a file that identify it together with its size and time. */
const sendHeadBytes = 64 * 1024;

/** A command that is killed repeats at most the requests of this time. */
const sendSaveIntervalMs = 1_000;

export interface SentPart {
  /** Everything up to this line, or request of spans, was answered. */
  position: number;
  counts: SendCounts;
}

/** A command that continues must make the same events of the same lines. */
export interface Changes {
  idSeed: string;
  shiftMs: number;
}

/** How far a file was sent, kept in a file beside it, so that an interrupted command can continue. */
export interface Checkpoint {
  /** Undefined when there is nothing to continue. */
  readonly before: (SentPart & Changes) | undefined;
  /** Stores the part, at most once a second. Without a writable directory a command cannot be continued. */
  save(part: SentPart, changes: Changes, options?: { isForced?: boolean }): void;
  /** Everything was answered: the next command begins again. */
  remove(): Promise<void>;
}

export interface CheckpointOptions {
  /** What must be the same for a command to continue: where the events go, and how they are changed. */
  target: readonly unknown[];
  isRestart: boolean;
  pid: number;
  report(text: string): void;
}

interface StoredState extends SentPart, Changes {
  identity: string;
  sender: ProcessIdentity;
}

/** @throws the error of node:fs when the input cannot be read. */
export async function openCheckpoint(path: string, options: CheckpointOptions): Promise<Checkpoint> {
  const { target, isRestart, pid, report } = options;
  const statePath = `${path}.weir-send.json`;
  const identity = hash('sha256', JSON.stringify([await identifyFile(path), target]));
  const sender = identifyProcess(pid);
  const stored = readState(statePath);
  if (stored !== undefined && stored.sender.pid !== pid && isAlive(stored.sender)) {
    report(`Process ${stored.sender.pid} sends this file, too: this command cannot be continued.`);
    return { before: undefined, save: () => {}, remove: async () => {} };
  }
  const before = stored?.identity === identity && !isRestart ? stored : undefined;
  if (before !== undefined) report(describeStart(before));
  else if (stored !== undefined && !isRestart)
    report('The file, the target or the options have changed since the last command: beginning again.');
  let nextAt = 0;
  return {
    before,
    save(part, changes, { isForced = false } = {}) {
      if (!isForced && performance.now() < nextAt) return;
      nextAt = performance.now() + sendSaveIntervalMs;
      try {
        writePrivateJson(statePath, { identity, sender, ...changes, ...part } satisfies StoredState);
      } catch (error) {
        nextAt = Number.POSITIVE_INFINITY;
        report(`If this command is interrupted, it begins again: ${messageOf(error)}.`);
      }
    },
    remove: () => rm(statePath, { force: true }).catch(() => {}),
  };
}

/** Size, time of change and first bytes: hashing the whole file would take as long as sending it. */
async function identifyFile(path: string): Promise<unknown[]> {
  await using file = await open(path);
  const { size, mtimeMs } = await file.stat();
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(sendHeadBytes), position: 0 });
  return [size, mtimeMs, hash('sha256', buffer.subarray(0, bytesRead))];
}

/** @returns undefined also when damaged: events are sent again, with the same ids unless they are fresh. */
function readState(path: string): StoredState | undefined {
  try {
    return readJson<StoredState>(path);
  } catch {
    return undefined;
  }
}

function describeStart({ position, counts }: SentPart): string {
  const events = `${counts.accepted.toLocaleString('en')} events were accepted before`;
  return `Continuing after line ${position.toLocaleString('en')}: ${events}. --restart begins again.`;
}
