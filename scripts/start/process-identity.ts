import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';

/** What /proc or ps says of a process. */
export interface ProcessFacts {
  parentPid: number;
  /**
   * Differs between two processes that had the same pid, also across reboots: pids come again, and stopping a stranger
   * that has the pid of a dead child of ours would be worse than an orphan.
   */
  identity: string;
  commandLine: string;
}

/** A process as it is written down, to be found again by a later start. */
export interface ProcessMark {
  pid: number;
  identity: string;
}

/** @returns undefined when there is no such process, or only its exit code is left of it. */
export function readProcess(pid: number): ProcessFacts | undefined {
  try {
    return platform() === 'linux' ? readProc(pid) : askPs(pid);
  } catch {
    return undefined;
  }
}

/** Whether the process that was written down still lives. */
export function isAlive(mark: ProcessMark): boolean {
  return readProcess(mark.pid)?.identity === mark.identity;
}

/** @throws Error when there is no such process. */
export function markProcess(pid: number): ProcessMark {
  const facts = readProcess(pid);
  if (facts === undefined) throw new Error(`process ${pid} is gone`);
  return { pid, identity: facts.identity };
}

function readProc(pid: number): ProcessFacts | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in brackets, and may hold brackets and blanks itself.
  const [state = '', parentPid, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if ('ZX'.includes(state)) return undefined;
  const startTime = rest[17];
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return {
    parentPid: Number(parentPid),
    identity: `${boot}/${startTime}`,
    commandLine: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim(),
  };
}

function askPs(pid: number): ProcessFacts | undefined {
  const fields = ['-o', 'stat=', '-o', 'ppid=', '-o', 'lstart=', '-o', 'command='];
  const line = execFileSync('ps', [...fields, '-p', String(pid)], { encoding: 'utf8' }).trim();
  const parsed = /^(\S+)\s+(\d+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line);
  if (!parsed?.[3] || parsed[1]?.startsWith('Z')) return undefined;
  return { parentPid: Number(parsed[2]), identity: parsed[3], commandLine: parsed[4] ?? '' };
}
