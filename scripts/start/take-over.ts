import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { ConfigError } from '../../lib/config.ts';
import { createPrivateJson } from './json-file.ts';
import { endsWithin, stopOrphans } from './orphans.ts';
import { isAlive, type ProcessMark } from './process-identity.ts';
import { parseRecord, type SupervisorRecord, SupervisorState } from './supervisor-state.ts';

/** A supervisor on its way out drains its services and lets Postgres write its checkpoint. */
const predecessorTimeoutMs = 45_000;

export interface TakeOverOptions {
  /** supervisor.json: whoever has made it runs the data directory. */
  file: string;
  self: ProcessMark;
  launcher?: ProcessMark | undefined;
  kill: (pid: number, signal: NodeJS.Signals) => void;
  /** Called once no predecessor serves any more, before the wait for its end: what it announced is void. */
  onVacant: () => void;
  /** Told what the start waits for. */
  report: (text: string) => void;
}

/**
 * Becomes the one supervisor of a data directory. Waits for one that is stopping, and stops what a killed one left.
 * The file stays when we end: it holds the ports for the next start, and without a living process it blocks nobody.
 *
 * @throws ConfigError when another supervisor runs.
 */
export async function takeOver(options: TakeOverOptions): Promise<SupervisorState> {
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
      await evict(other, options);
      ports = other.ports;
    }
    remove(file, text);
  }
}

async function evict(other: SupervisorRecord, options: TakeOverOptions): Promise<void> {
  if (isAlive(other)) refuseRunning(other, options.file);
  options.onVacant();
  if (isAlive(other)) await outwait(other, options);
  const orphans = await stopOrphans(other.children, options.kill);
  if (orphans.length > 0) options.report(`stopped what a killed start had left: ${orphans.join(', ')}`);
}

/** A supervisor that is stopping, or is about to notice that its npm was killed, does not count as running. */
function refuseRunning(other: SupervisorRecord, file: string): void {
  const launcherIsGone = other.launcher !== undefined && !isAlive(other.launcher);
  if (other.isStopping || launcherIsGone) return;
  throw new ConfigError(
    `Weir already runs in this data directory (process ${other.pid}, ${file}). Stop it first, or set WEIR_DATA_DIR, INGEST_PORT and DASHBOARD_PORT to run another one beside it.`,
  );
}

async function outwait(other: SupervisorRecord, { kill, report }: TakeOverOptions): Promise<void> {
  report(`waiting for the previous start (process ${other.pid}) to stop`);
  if (await endsWithin(other, predecessorTimeoutMs)) return;
  kill(other.pid, 'SIGKILL');
  await endsWithin(other, predecessorTimeoutMs);
}

/**
 * Removes the file of a dead supervisor. Another start may have done so and made its own in the meantime: then that one
 * is put back.
 */
function remove(file: string, expected: string): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
    if (readText(aside) !== expected) linkSync(aside, file);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
