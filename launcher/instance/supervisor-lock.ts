import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../platform/config/config-error.ts';
import { codeOf } from '../../platform/thrown.ts';
import { createPrivateJson } from '../data-directory/json-file.ts';
import { isAlive, type ProcessIdentity } from '../process/process-identity.ts';
import { type ChildRecord, parseRecord, type SupervisorRecord, SupervisorState } from './supervisor-state.ts';

/** A stopping supervisor drains its services and waits for Postgres to write a checkpoint. */
const predecessorTimeoutMs = 45_000;

export interface SupervisorLockOptions {
  /** supervisor.json: the process that created it owns the data directory. */
  file: string;
  self: ProcessIdentity;
  launcher?: ProcessIdentity | undefined;
  kill: (pid: number, signal: NodeJS.Signals) => void;
  /** Called when the connection.json of a stopping or killed predecessor has become invalid. */
  onPredecessorGone: () => void;
  /** Called with the reason for which the start waits. */
  report: (text: string) => void;
}

/**
 * Becomes the only supervisor of a data directory: waits for one that is stopping, and stops the processes
 * that a killed one left. The file locks only while its process runs; it keeps the ports for later starts.
 * @throws ConfigError when another supervisor runs.
 */
export async function acquireSupervisorLock(options: SupervisorLockOptions): Promise<SupervisorState> {
  const { file, self, launcher } = options;
  let ports: SupervisorRecord['ports'] = {};
  for (;;) {
    const record = { ...self, ...(launcher && { launcher }), isStopping: false, children: [], ports };
    if (createPrivateJson(file, record)) {
      return new SupervisorState(file, record);
    }
    const text = readText(file);
    if (text === undefined) continue;
    const other = parseRecord(text);
    if (other) {
      await awaitPredecessor(other, options);
      ports = other.ports;
    }
    remove(file, text);
  }
}

async function awaitPredecessor(other: SupervisorRecord, options: SupervisorLockOptions): Promise<void> {
  if (isAlive(other)) rejectRunning(other, options.file);
  options.onPredecessorGone();
  if (isAlive(other)) await awaitExit(other, options);
  const orphans = await stopOrphans(other.children, options.kill);
  if (orphans.length > 0) options.report(`stopped the processes of a killed start: ${orphans.join(', ')}`);
}

/** A supervisor that is stopping, or is about to because its npm was killed, does not count as running. */
function rejectRunning(other: SupervisorRecord, file: string): void {
  const launcherIsGone = other.launcher !== undefined && !isAlive(other.launcher);
  if (other.isStopping || launcherIsGone) return;
  throw new ConfigError(
    `Weir already runs in this data directory (process ${other.pid}, ${file}). Stop it first, or set WEIR_DATA_DIR, INGEST_PORT and DASHBOARD_PORT to run another one beside it.`,
  );
}

async function awaitExit(other: SupervisorRecord, { kill, report }: SupervisorLockOptions): Promise<void> {
  report(`waiting for the previous start (process ${other.pid}) to stop`);
  if (await exitsWithin(other, predecessorTimeoutMs)) return;
  kill(other.pid, 'SIGKILL');
  await exitsWithin(other, predecessorTimeoutMs);
}

/** Removes the file of a dead supervisor, but puts back that of a concurrent start. */
function remove(file: string, expected: string): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
    if (readText(aside) !== expected) linkSync(aside, file);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error) ?? '')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A service drains for up to 10 s, and Postgres writes a checkpoint. */
const stopTimeoutMs = 20_000;

const pollMs = 50;

/**
 * Stops the processes that a killed supervisor left running, the last started first. The identity is
 * compared: an unrelated process may have got the same pid.
 * @returns the names of the processes that were still running.
 */
async function stopOrphans(
  children: readonly ChildRecord[],
  kill: (pid: number, signal: NodeJS.Signals) => void,
): Promise<string[]> {
  const orphans = children.filter(isAlive).toReversed();
  for (const orphan of orphans) {
    sendSignal(orphan, orphan.stopSignal, kill);
    if (await exitsWithin(orphan, stopTimeoutMs)) continue;
    sendSignal(orphan, 'SIGKILL', kill);
    await exitsWithin(orphan, stopTimeoutMs);
  }
  return orphans.map((orphan) => orphan.name);
}

/** Waits for the exit of a process that is not our child. */
async function exitsWithin(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(pollMs)) {
    if (!isAlive(identity)) return true;
  }
  return false;
}

function sendSignal(
  { pid }: ProcessIdentity,
  signal: NodeJS.Signals,
  kill: (pid: number, signal: NodeJS.Signals) => void,
): void {
  try {
    kill(pid, signal);
  } catch (error) {
    // ESRCH: exited in the meantime. Anything else is reported, e.g. another user's process.
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}
