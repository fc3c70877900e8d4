import { expect, test } from 'vitest';
import type { ProcessInfo } from '../process/process-identity.ts';
import { findNpmProcess } from './npm-process.ts';

const ancestors: Record<number, ProcessInfo> = {
  40: { parentPid: 30, identity: 'run.mjs', commandLine: 'node launcher/run.mjs launcher/start.ts' },
  30: { parentPid: 20, identity: 'sh', commandLine: 'sh -c node launcher/run.mjs launcher/start.ts' },
  20: { parentPid: 10, identity: 'npm', commandLine: 'npm start' },
  10: { parentPid: 1, identity: 'terminal', commandLine: 'bash' },
};
const read = (pid: number) => ancestors[pid];

test('npm is found behind a shell and another Node', () => {
  const host = { env: { npm_lifecycle_event: 'start' }, ppid: 40 };
  expect(findNpmProcess(host, read)).toEqual({ pid: 20, identity: 'npm' });
});

test('when no ancestor is npm, the parent process is used', () => {
  const host = { env: { npm_lifecycle_event: 'start' }, ppid: 10 };
  expect(findNpmProcess(host, read)).toEqual({ pid: 10, identity: 'terminal' });
});

test('a process that npm did not start has no npm process', () => {
  expect(findNpmProcess({ env: {}, ppid: 40 }, read)).toBeUndefined();
});
