import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { identifyProcess } from '../process/process-identity.ts';
import { parseRecord, SupervisorState } from './supervisor-state.ts';

const record = () => ({ ...identifyProcess(process.pid), isStopping: false, children: [], ports: {} });

test('a child is on disk as soon as it is added', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-state-'));
  try {
    const file = join(directory, 'supervisor.json');
    new SupervisorState(file, record()).addChild('ingest', process.pid, 'SIGTERM');
    expect(parseRecord(readFileSync(file, 'utf8'))?.children).toMatchObject([
      { name: 'ingest', pid: process.pid, stopSignal: 'SIGTERM' },
    ]);
    expect(readdirSync(directory)).toEqual(['supervisor.json']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('children are tracked even when the file cannot be written', () => {
  const state = new SupervisorState('/dev/null/supervisor.json', record());
  state.addChild('ingest', process.pid, 'SIGTERM');
  state.beginStop();
  expect(state.children).toMatchObject([{ name: 'ingest', pid: process.pid }]);
});
