import { readFileSync } from 'node:fs';
import { processTree } from './process-tree.ts';

/** Linux reports CPU time to user space in units of 10 ms. */
const tickMs = 10;

/** The CPU time that a process has used, in milliseconds; NaN without /proc. */
export function cpuTimeMs(pid: number): number {
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  return (Number(fields?.[11]) + Number(fields?.[12])) * tickMs;
}

/** The CPU time of a process and its children, including exited ones, in milliseconds; NaN without /proc. */
export function processTreeCpuMs(pid: number): number {
  const ended = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  const endedMs = (Number(ended?.[13]) + Number(ended?.[14])) * tickMs;
  return processTree(pid).reduce((sum, one) => sum + (cpuTimeMs(one) || 0), endedMs);
}

/** The peak resident memory of a process, in bytes; NaN without /proc. */
export function peakResidentBytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`) ?? '')?.[1]) * 1024;
}

/** The current resident memory of a process, in bytes; NaN without /proc. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`) ?? '')?.[1]) * 1024;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
