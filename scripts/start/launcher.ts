import { platform } from 'node:os';
import { isAlive, type ProcessMark, readProcess } from './process-identity.ts';

/** Often enough that `kill -9` of npm and a new start do not meet the old one for long. */
const pollMs = 500;

const ancestorsMax = 5;

/**
 * Finds the npm that runs us. It may not be our parent: between us there can be a shell, and the Node that installed
 * the one we run on.
 *
 * @returns npm, or our parent when no npm is found; undefined when npm does not run us.
 */
export function findLauncher(
  host: Pick<NodeJS.Process, 'env' | 'ppid'>,
  read = readProcess,
): ProcessMark | undefined {
  if (host.env.npm_lifecycle_event === undefined) return undefined;
  let pid = host.ppid;
  for (let depth = 0; depth < ancestorsMax && pid > 1; depth++) {
    const facts = read(pid);
    if (facts === undefined) break;
    if (/\bnpm\b/.test(facts.commandLine)) return { pid, identity: facts.identity };
    pid = facts.parentPid;
  }
  const parent = read(host.ppid);
  return parent && { pid: host.ppid, identity: parent.identity };
}

/**
 * Calls back once when the launcher is gone: who ended npm with SIGKILL does not want us to stay.
 *
 * @returns ends the watch
 */
export function watchLauncher(
  host: Pick<NodeJS.Process, 'ppid' | 'kill'>,
  launcher: ProcessMark,
  onGone: () => void,
): () => void {
  const parentPid = host.ppid;
  const lives = () => {
    // Asking ps twice a second would cost more than the whole supervisor.
    if (platform() !== 'linux') return canSignal(host, launcher.pid);
    return isAlive(launcher);
  };
  const timer = setInterval(() => {
    if (host.ppid === parentPid && lives()) return;
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
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
