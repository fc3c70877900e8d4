import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readJson, writePrivateJson } from '../data-directory/json-file.ts';
import { identifyProcess, isAlive, type ProcessIdentity, readProcess } from '../process/process-identity.ts';
import { acquireSupervisorLock } from './supervisor-lock.ts';
import type { SupervisorRecord } from './supervisor-state.ts';

const self = identifyProcess(process.pid);
let directory: string;
let file: string;
let children: ChildProcess[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'weir-lock-'));
  file = join(directory, 'supervisor.json');
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

test('a start beside a running supervisor is rejected and changes nothing', async () => {
  const other = await run('sleep 60');
  writeRecord(other);
  await expect(acquire()).rejects.toThrow(/already runs in this data directory.*WEIR_DATA_DIR/);
  expect(readJson<SupervisorRecord>(file)?.pid).toBe(other.pid);
});

test('a start waits for a supervisor whose npm was killed, and first invalidates its connection.json', async () => {
  const other = await run('exec sleep 60');
  writeRecord(other, { launcher: exited(), ports: { postgres: [20_000] } });
  let wasCalledBeforeExit = false;
  const state = await acquire({
    onPredecessorGone: () => (wasCalledBeforeExit = isAlive(other)),
    // It exits when the start says that it waits.
    report: () => void process.kill(other.pid, 'SIGKILL'),
  });
  expect(wasCalledBeforeExit).toBe(true);
  expect(isAlive(other)).toBe(false);
  expect(state.portsOf('postgres')).toEqual([20_000]);
  expect(readJson<SupervisorRecord>(file)?.pid).toBe(process.pid);
});

test('orphans of a killed supervisor are stopped, and an unrelated process with a recorded pid is not', async () => {
  const orphan = await run('exec sleep 60');
  const unrelated = await run('exec sleep 60');
  const records = [
    { name: 'writer', stopSignal: 'SIGTERM', ...orphan },
    { name: 'ingest', stopSignal: 'SIGTERM', pid: unrelated.pid, identity: 'another boot' },
  ] as const;
  writeRecord(exited(), { children: [...records] });
  const reports: string[] = [];
  await acquire({ report: (text) => reports.push(text) });
  expect(isAlive(orphan)).toBe(false);
  expect(isAlive(unrelated)).toBe(true);
  expect(reports).toEqual(['stopped the processes of a killed start: writer']);
});

test('a file that a power failure left empty does not lock the directory', async () => {
  writeFileSync(file, '');
  await acquire();
  expect(readJson<SupervisorRecord>(file)?.pid).toBe(process.pid);
});

test('of concurrent starts exactly one acquires the lock', async () => {
  writeRecord(exited());
  const contenders = await Promise.all([run('exec sleep 60'), run('exec sleep 60'), run('exec sleep 60')]);
  const results = await Promise.allSettled(contenders.map((contender) => acquire({ self: contender })));
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
});

test('a process is identified by its start time, and a zombie is not alive', async () => {
  const sleeper = await run('exec sleep 60');
  expect(isAlive(sleeper)).toBe(true);
  expect(isAlive({ ...sleeper, identity: `${sleeper.identity}0` })).toBe(false);
  process.kill(sleeper.pid, 'SIGKILL');
  await expect.poll(() => readProcess(sleeper.pid)).toBeUndefined();
});

function acquire(options: Partial<Parameters<typeof acquireSupervisorLock>[0]> = {}) {
  const kill = (pid: number, signal: NodeJS.Signals) => void process.kill(pid, signal);
  return acquireSupervisorLock({
    file,
    self,
    kill,
    onPredecessorGone: () => {},
    report: () => {},
    ...options,
  });
}

async function run(command: string): Promise<ProcessIdentity> {
  const child = spawn('sh', ['-c', command], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  return identifyProcess(child.pid ?? 0);
}

function exited(): ProcessIdentity {
  return { pid: process.pid, identity: 'of an earlier process' };
}

function writeRecord(supervisor: ProcessIdentity, more: Partial<SupervisorRecord> = {}): void {
  writePrivateJson(file, { ...supervisor, isStopping: false, children: [], ports: {}, ...more });
}
