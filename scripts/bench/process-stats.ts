import { readFileSync } from 'node:fs';

/** Linux counts CPU time for user space in hundredths of a second, whatever its own clock. */
const tickMs = 10;

/** CPU time that a process has used, in milliseconds; NaN where there is no /proc. */
export function cpuTimeMs(pid: number): number {
  const fields = read(`/proc/${pid}/stat`)?.split(') ')[1]?.split(' ');
  return (Number(fields?.[11]) + Number(fields?.[12])) * tickMs;
}

/** The most memory that a process has had resident so far, in bytes; NaN where there is no /proc. */
export function peakResidentBytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`) ?? '')?.[1]) * 1024;
}

/** The memory that a process has resident now, in bytes; NaN where there is no /proc. */
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
