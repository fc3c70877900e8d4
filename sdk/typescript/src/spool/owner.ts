import { lstatSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import process from 'node:process';
import { threadId } from 'node:worker_threads';
import { abandonedMs } from './limits.ts';
import { adoptSegment, type Segment } from './segment.ts';

/** The process that writes to a directory of the spool, as recorded in the lock file. */
interface Owner {
  host: string;
  pid: number;
  threadId: number;
  /**
   * Start of the process, in milliseconds since the epoch. It distinguishes a later process with the same
   * pid.
   */
  startedAtMs: number;
  /** Start of the process in clock ticks since boot, if the platform reports it: no set clock changes it. */
  startTicks?: number | undefined;
  /** The owner has released the directory, although it still runs. */
  isClosed?: boolean;
}

const lockName = 'lock';

/**
 * Two computed start times of one process differ by the resolution of the clocks, and by clock corrections in
 * between.
 */
const startToleranceMs = 3_000;

function describeSelf(): Owner {
  const startTicks = readStartTicks(process.pid);
  return {
    host: hostname(),
    pid: process.pid,
    threadId,
    startedAtMs: Math.round(Date.now() - process.uptime() * 1000),
    startTicks: startTicks === 'ended' ? undefined : startTicks,
  };
}

/** Locks a new directory. @throws Error when it is locked already. */
export function lock(directory: string): void {
  writeFileSync(join(directory, lockName), JSON.stringify(describeSelf()), { flag: 'wx', mode: 0o600 });
}

/** Releases a directory: the next spool that is opened takes it over. */
export function unlock(directory: string): void {
  writeFileSync(join(directory, lockName), JSON.stringify({ ...describeSelf(), isClosed: true }));
}

/** Updates the lock's time, which shows other hosts that the owner is alive. */
export function touch(directory: string): void {
  const now = new Date();
  utimesSync(join(directory, lockName), now, now);
}

/** The directories below the root whose owner has ended. */
export function findOrphans(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(root, name))
    .filter((directory) => isOwn(directory) && isOrphan(directory));
}

/**
 * Other users may write to the root, as to /tmp: do not send their events with our key. Windows has no owner
 * ids.
 */
function isOwn(directory: string): boolean {
  const user = process.getuid?.();
  try {
    return user === undefined || lstatSync(directory).uid === user;
  } catch {
    return false;
  }
}

function isOrphan(directory: string): boolean {
  const path = join(directory, lockName);
  try {
    const owner: Owner = JSON.parse(readFileSync(path, 'utf8'));
    if (owner.isClosed) return true;
    if (owner.host !== hostname()) return Date.now() - statSync(path).mtimeMs > abandonedMs;
    return !isRunning(owner);
  } catch {
    // No lock, or one truncated by a crash: abandoned, unless it is being written now.
    return Date.now() - statSync(directory).mtimeMs > startToleranceMs;
  }
}

function isRunning({ pid, startedAtMs, startTicks }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs as another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const ticks = readStartTicks(pid);
  if (ticks === 'ended') return false;
  if (ticks !== undefined && startTicks !== undefined) return ticks === startTicks;
  // For other processes only the pid can be compared here.
  return pid !== process.pid || Math.abs(describeSelf().startedAtMs - startedAtMs) < startToleranceMs;
}

/**
 * When a process was started, on Linux: clock ticks since boot. A zombie has ended: only its parent does not
 * know yet.
 */
function readStartTicks(pid: number): number | 'ended' | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return 'ended';
    const ticks = Number(fields[19]);
    return Number.isNaN(ticks) ? undefined : ticks;
  } catch {
    return undefined;
  }
}

/**
 * Takes over the segments of directories whose owner has ended, oldest directory and segment first. A segment
 * is taken by renaming it, which succeeds in only one process.
 *
 * @param nextPath a free path for a segment, with this suffix, in the directory of the adopter.
 */
export function adoptAll(root: string, nextPath: (suffix: string) => string): Segment[] {
  return findOrphans(root).flatMap((directory) => adoptDirectory(directory, nextPath));
}

function adoptDirectory(directory: string, nextPath: (suffix: string) => string): Segment[] {
  try {
    const segments = namesOf(directory).flatMap((name) => {
      // The name is a sequence number, followed by the number of events, if known, and the format.
      const target = nextPath(basename(name).slice(name.indexOf('.')));
      return adoptSegment(join(directory, name), target) ?? [];
    });
    rmSync(directory, { recursive: true, force: true });
    return segments;
  } catch {
    // Another process adopts it, or has adopted it.
    return [];
  }
}

/**
 * Leaves out a plain segment whose compressed form exists: the process ended before it deleted the plain one.
 */
function namesOf(directory: string): string[] {
  const names = readdirSync(directory);
  return names.filter((name) => /\.ndjson(\.gz)?$/.test(name) && !names.includes(`${name}.gz`)).sort();
}
