import process from 'node:process';

/**
 * What a task may hold the event loop for: some 100 ms, on a machine that needs {@link measureUnit} 25 ms.
 */
export const unitsMax = 4;
/**
 * A first run compiles its code, and any may collect garbage; a task that holds the loop does so each time.
 */
const triesMax = 6;
/**
 * A loop that was asked in each turn would never sleep, and take the processor from what the task waits for.
 */
const askMs = 1;

/**
 * Runs a task until it holds the event loop for at most `boundUnits`, or several times.
 *
 * @returns the most CPU time that one turn of the event loop took in the best run, with the short ones of the
 * millisecond before, in units of some work of this machine. Other processes do not add to it.
 */
export async function measureStall(run: () => Promise<unknown>, boundUnits = unitsMax): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < triesMax && best > boundUnits; tries++)
    best = Math.min(best, (await longestTurn(run)) / measureUnit());
  return best;
}

async function longestTurn(run: () => Promise<unknown>): Promise<number> {
  let [longest, before, isDone] = [0, cpuMs(), false];
  const endTurn = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isDone) setTimeout(endTurn, askMs);
  };
  setTimeout(endTurn, askMs);
  await run();
  isDone = true;
  endTurn();
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

/**
 * The CPU time of some work like that of calls, in milliseconds: it grows with the slowness of the machine.
 */
function measureUnit(): number {
  const startedMs = cpuMs();
  JSON.parse(JSON.stringify(sample));
  return Math.max(25, cpuMs() - startedMs);
}
