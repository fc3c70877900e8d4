import { env } from 'node:process';
import { afterAll, expect, inject, test } from 'vitest';
import { createRandom } from '../lib/random.ts';
import { arrange, findSkipped, SystemInTurn } from '../scripts/chaos/chaos.ts';
import { faults } from '../scripts/chaos/faults/index.ts';

/** The short round of `npm run chaos`: every fault once, from one seed, under a load that leaves room for other tests. */
const seed = 2026;
const load = { clients: 4, eventsMax: 30, pauseMsMax: 30 };

/** Of the limits on recovery: other tests run on the same cores. */
const slack = 4;

/** A round waits a minute for ingest and three for the queue before it gives up, and then it says what it waited for. */
const roundTimeoutMs = 360_000;

const random = createRandom(seed);
const signal = new AbortController().signal;
const systems = new SystemInTurn({
  natsBinary: inject('natsServerBinary'),
  parentDirectory: inject('runDirectory'),
  env,
  keep: false,
  log: () => {},
});
afterAll(() => systems[Symbol.asyncDispose](), 120_000);

const skipped = await findSkipped(faults);
for (const { fault, reason } of skipped) {
  // What is left out is named, in the title and in the output of every reporter.
  console.warn(`fault ${fault.name} is left out: ${reason}`);
  test.skip(`${fault.name}: left out, because ${reason}`);
}

const here = faults.filter((fault) => skipped.every((one) => one.fault !== fault));
for (const fault of arrange(here, random)) {
  test(
    `${fault.name}: ${fault.mustLose ? 'loses, as a control has to' : 'every promise holds'} (${fault.title})`,
    async () => {
      const round = await systems.run(fault, { random, thorough: false, slack, load, signal });
      expect(round.violations).toEqual([]);
      expect(round.acceptedBatches).toBeGreaterThan(0);
    },
    roundTimeoutMs,
  );
}
