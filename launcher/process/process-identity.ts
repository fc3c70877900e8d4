import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';

export interface ProcessInfo {
  parentPid: number;
  /** Differs between processes that had the same pid, which is reused, also across reboots. */
  identity: string;
  commandLine: string;
}

/** Identifies a process in a file, for a later start. */
export interface ProcessIdentity {
  pid: number;
  identity: string;
}

/** @returns undefined when there is no such process, or it is a zombie. */
export function readProcess(pid: number): ProcessInfo | undefined {
  try {
    return platform() === 'linux' ? readProc(pid) : askPs(pid);
  } catch {
    return undefined;
  }
}

export function isAlive({ pid, identity }: ProcessIdentity): boolean {
  return readProcess(pid)?.identity === identity;
}

export function identifyProcess(pid: number): ProcessIdentity {
  const info = readProcess(pid);
  if (info === undefined) throw new Error(`process ${pid} has exited`);
  return { pid, identity: info.identity };
}

function readProc(pid: number): ProcessInfo | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in parentheses; the name may contain parentheses and spaces.
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

function askPs(pid: number): ProcessInfo | undefined {
  const fields = ['-o', 'stat=', '-o', 'ppid=', '-o', 'lstart=', '-o', 'command='];
  const line = execFileSync('ps', [...fields, '-p', String(pid)], { encoding: 'utf8' }).trim();
  const parsed = /^(\S+)\s+(\d+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/.exec(line);
  if (!parsed?.[3] || parsed[1]?.startsWith('Z')) return undefined;
  return { parentPid: Number(parsed[2]), identity: parsed[3], commandLine: parsed[4] ?? '' };
}
