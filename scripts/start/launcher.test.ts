import { expect, test } from 'vitest';
import { findLauncher } from './launcher.ts';
import type { ProcessFacts } from './process-identity.ts';

const ancestors: Record<number, ProcessFacts> = {
  40: { parentPid: 30, identity: 'run.mjs', commandLine: 'node scripts/run.mjs scripts/start.ts' },
  30: { parentPid: 20, identity: 'sh', commandLine: 'sh -c node scripts/run.mjs scripts/start.ts' },
  20: { parentPid: 10, identity: 'npm', commandLine: 'npm start' },
  10: { parentPid: 1, identity: 'terminal', commandLine: 'bash' },
};
const read = (pid: number) => ancestors[pid];

test('npm is found above the shell and the other Node', () => {
  const host = { env: { npm_lifecycle_event: 'start' }, ppid: 40 };
  expect(findLauncher(host, read)).toEqual({ pid: 20, identity: 'npm' });
});

test('without npm in sight the parent counts', () => {
  const host = { env: { npm_lifecycle_event: 'start' }, ppid: 10 };
  expect(findLauncher(host, read)).toEqual({ pid: 10, identity: 'terminal' });
});

test('who was not started by npm does not depend on its parent', () => {
  expect(findLauncher({ env: {}, ppid: 40 }, read)).toBeUndefined();
});
