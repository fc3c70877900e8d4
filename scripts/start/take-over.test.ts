import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readJson, writePrivateJson } from './json-file.ts';
import { isAlive, markProcess, type ProcessMark, readProcess } from './process-identity.ts';
import type { SupervisorRecord } from './supervisor-state.ts';
import { takeOver } from './take-over.ts';

const self = markProcess(process.pid);
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

test('a running supervisor is not disturbed', async () => {
  const other = await run('sleep 60');
  writeRecord(other);
  await expect(take()).rejects.toThrow(/already runs in this data directory.*WEIR_DATA_DIR/);
  expect(readJson<SupervisorRecord>(file)?.pid).toBe(other.pid);
});

test('one whose npm was killed is waited for, and what it announced is void', async () => {
  const other = await run('sleep 0.5');
  writeRecord(other, { launcher: gone(), ports: { postgres: [20_000] } });
  let wasVacatedFirst = false;
  const state = await take({ onVacant: () => (wasVacatedFirst = isAlive(other)) });
  expect(wasVacatedFirst).toBe(true);
  expect(isAlive(other)).toBe(false);
  expect(state.portsOf('postgres')).toEqual([20_000]);
  expect(readJson<SupervisorRecord>(file)?.pid).toBe(process.pid);
});

test('what a killed supervisor left is stopped, and a stranger with a known pid is not', async () => {
  const orphan = await run('exec sleep 60');
  const stranger = await run('exec sleep 60');
  const marks = [
    { name: 'writer', stopSignal: 'SIGTERM', ...orphan },
    { name: 'ingest', stopSignal: 'SIGTERM', pid: stranger.pid, identity: 'another boot' },
  ] as const;
  writeRecord(gone(), { children: [...marks] });
  const reports: string[] = [];
  await take({ report: (text) => reports.push(text) });
  expect(isAlive(orphan)).toBe(false);
  expect(isAlive(stranger)).toBe(true);
  expect(reports).toEqual(['stopped what a killed start had left: writer']);
});

test('a file that a power cut has emptied blocks nobody', async () => {
  writeFileSync(file, '');
  await take();
  expect(readJson<SupervisorRecord>(file)?.pid).toBe(process.pid);
});

test('of several starts at once, one wins', async () => {
  writeRecord(gone());
  const contenders = await Promise.all([run('exec sleep 60'), run('exec sleep 60'), run('exec sleep 60')]);
  const results = await Promise.allSettled(contenders.map((contender) => take({ self: contender })));
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
});

test('a process is known by its start, and a zombie is none', async () => {
  const mark = await run('exec sleep 60');
  expect(isAlive(mark)).toBe(true);
  expect(isAlive({ ...mark, identity: `${mark.identity}0` })).toBe(false);
  process.kill(mark.pid, 'SIGKILL');
  await expect.poll(() => readProcess(mark.pid)).toBeUndefined();
});

function take(options: Partial<Parameters<typeof takeOver>[0]> = {}) {
  const kill = (pid: number, signal: NodeJS.Signals) => void process.kill(pid, signal);
  return takeOver({ file, self, kill, onVacant: () => {}, report: () => {}, ...options });
}

async function run(command: string): Promise<ProcessMark> {
  const child = spawn('sh', ['-c', command], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  return markProcess(child.pid ?? 0);
}

function gone(): ProcessMark {
  return { pid: process.pid, identity: 'of an earlier process' };
}

function writeRecord(mark: ProcessMark, more: Partial<SupervisorRecord> = {}): void {
  writePrivateJson(file, { ...mark, isStopping: false, children: [], ports: {}, ...more });
}
