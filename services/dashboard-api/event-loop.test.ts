import { get, type IncomingMessage } from 'node:http';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { heaviestCalls } from '../../harness/heavy/heaviest-calls.ts';
import { fillHeavySpace, type HeavySpace } from '../../harness/heavy/heavy-space.ts';
import { openDashboard, type TestDashboard, type TestSpace } from '../../test/support/dashboard.ts';

let dashboard: TestDashboard;
let owner: TestSpace;
let space: HeavySpace;
beforeAll(async () => {
  dashboard = await openDashboard();
  owner = await dashboard.addSpace();
  space = await fillHeavySpace(dashboard, owner.spaceId, { models: 150, minutes: 720, prices: 5_000 });
}, 300_000);
afterAll(() => dashboard[Symbol.asyncDispose]());

/** What a call may hold the event loop for, on a machine that needs {@link measureUnit} 25 ms. */
const unitsMax = 4;
/** A first call compiles its code, and any may collect garbage; a call that holds the loop does so each time. */
const triesMax = 6;

test('no call of the dashboard API holds the event loop for long, whatever it asks of the largest data', async () => {
  const tooLong: unknown[] = [];
  for (const { name, path } of heaviestCalls(space)) {
    let best = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < triesMax && best > unitsMax; tries++) {
      const ms = await measureStall(path);
      best = Math.min(best, ms / measureUnit());
    }
    if (best > unitsMax) tooLong.push({ name, units: best });
  }
  expect(tooLong).toEqual([]);
}, 600_000);

/** The most CPU time that one turn of the event loop took during a call, in milliseconds. Other processes do not add to it. */
async function measureStall(path: string): Promise<number> {
  const headers = { cookie: owner.client.cookie ?? '' };
  let [longest, before, isDone] = [0, cpuMs(), false];
  const watch = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isDone) setImmediate(watch);
  };
  setImmediate(watch);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${dashboard.url}${path}`, { headers }, resolve).on('error', reject);
  });
  for await (const _chunk of response);
  isDone = true;
  return longest;
}

/** The CPU time of this thread so far. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const sample = Array.from({ length: 20_000 }, (_, n) => ({
  n,
  text: `a text of some length ${n}`,
  list: [n, -n],
}));

/** The CPU time of some work like that of calls, in milliseconds: it grows with the slowness of the machine. */
function measureUnit(): number {
  const startedMs = cpuMs();
  JSON.parse(JSON.stringify(sample));
  return Math.max(25, cpuMs() - startedMs);
}
