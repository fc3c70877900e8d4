import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { allStarted, type ManagedProcess } from './managed-process.ts';

test('when one of several processes cannot start, the others have started before the error', async () => {
  const started: string[] = [];
  const slow = turn().then(() => {
    started.push('slow');
    return {} as ManagedProcess;
  });
  await expect(allStarted([Promise.reject(new Error('taken')), slow])).rejects.toThrow('taken');
  expect(started).toEqual(['slow']);
});
