import { env } from 'node:process';
import { expect, inject, test } from 'vitest';
import { once, runChaos } from './chaos.ts';
import { killNats } from './faults/kill.ts';
import type { Round } from './round.ts';

/** Tests that the harness works. `npm run chaos` injects all faults. */
test('a round under load passes, and reports what it measured', async () => {
  const rounds: Round[] = [];
  await runChaos({
    faults: [killNats],
    seed: 1,
    mode: once,
    minutes: 0,
    environment: {
      natsBinary: inject('natsServerBinary'),
      parentDirectory: inject('runDirectory'),
      env,
      keep: false,
      log: () => {},
    },
    signal: new AbortController().signal,
    onRound: (round) => rounds.push(round),
  });
  expect(rounds).toMatchObject([{ fault: killNats, violations: [], lost: 0 }]);
  expect(rounds[0]?.acceptedBatches).toBeGreaterThan(0);
  expect(rounds[0]?.recoveryMs).toBeGreaterThan(0);
});
