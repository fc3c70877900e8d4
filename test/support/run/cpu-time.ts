import { readFileSync } from 'node:fs';
import { cpuUsage, platform } from 'node:process';

/** USER_HZ, in which Linux reports CPU time to programs. */
const ticksPerSecond = 100;

let sharedSeconds = 0;

/** Does work that serves all files, whichever comes first: its CPU time is not that of the file. */
export async function shareWork<T>(work: () => Promise<T>): Promise<T> {
  const startSeconds = processSeconds();
  try {
    return await work();
  } finally {
    sharedSeconds += processSeconds() - startSeconds;
  }
}

/** The CPU time of this process, in seconds, without that of work that all files share. */
export const cpuSeconds = (): number => processSeconds() - sharedSeconds;

/**
 * The CPU time of this process, in seconds, on Linux with that of the child processes that have ended. The
 * database of the tests, which all files share, is not among them.
 */
function processSeconds(): number {
  if (platform !== 'linux') {
    const { user, system } = cpuUsage();
    return (user + system) / 1e6;
  }
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The second field is the name, in parentheses, and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
  const ticks = [user, system, childrenUser, childrenSystem].reduce<number>(
    (sum, one) => sum + (one ?? 0),
    0,
  );
  return ticks / ticksPerSecond;
}
