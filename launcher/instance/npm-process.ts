import { platform } from 'node:os';
import { codeOf } from '../../platform/thrown.ts';
import { isAlive, type ProcessIdentity, readProcess } from '../process/process-identity.ts';

/** Short, so that a new start right after `kill -9` of npm does not wait long for the old supervisor. */
const pollMs = 500;

/** npm, its shell, the Node that installed ours, and a wrapper. */
const ancestorsMax = 5;

/**
 * Finds the npm that runs this process, maybe above a shell and the Node that installed ours.
 * @returns the parent when no ancestor is npm; undefined when npm did not start this process.
 */
export function findNpmProcess(
  host: Pick<NodeJS.Process, 'env' | 'ppid'>,
  read = readProcess,
): ProcessIdentity | undefined {
  if (host.env.npm_lifecycle_event === undefined) return undefined;
  let pid = host.ppid;
  for (let depth = 0; depth < ancestorsMax && pid > 1; depth++) {
    const info = read(pid);
    if (info === undefined) break;
    if (/\bnpm\b/.test(info.commandLine)) return { pid, identity: info.identity };
    pid = info.parentPid;
  }
  const parent = read(host.ppid);
  return parent && { pid: host.ppid, identity: parent.identity };
}

/**
 * Calls back once when npm has exited: after `kill -9` of npm the supervisor must not keep running.
 * @returns ends the watch
 */
export function watchNpmProcess(
  host: Pick<NodeJS.Process, 'ppid' | 'kill'>,
  npm: ProcessIdentity,
  onGone: () => void,
): () => void {
  const parentPid = host.ppid;
  const isNpmAlive = () => {
    // Without /proc, `isAlive` runs ps: twice a second that costs more than the rest of the supervisor.
    if (platform() !== 'linux') return canSignal(host, npm.pid);
    return isAlive(npm);
  };
  const timer = setInterval(() => {
    if (host.ppid === parentPid && isNpmAlive()) return;
    clearInterval(timer);
    onGone();
  }, pollMs);
  timer.unref();
  return () => clearInterval(timer);
}

function canSignal(host: Pick<NodeJS.Process, 'kill'>, pid: number): boolean {
  try {
    return host.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
