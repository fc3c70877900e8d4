import { randomInt } from 'node:crypto';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { type System, startSystem } from '../../scripts/bench/system.ts';
import { anyBody, type Body } from './bodies.ts';
import { outcomeInProcess, outcomeOverHttp } from './outcome.ts';
import { Tally } from './tally.ts';

/**
 * `npm run fuzz [-- --count N --seed S]`: whatever the body is, it is accepted, or refused with one of the contract's 400s
 * and 413s; what a running service accepted is stored, and nothing of it is in quarantine. N bodies are read in this
 * process, and a twentieth as many are sent to a Weir of its own. The same seed and count make the same bodies; a failure
 * is shrunk, and printed with both.
 */
const { values } = parseArgs({
  options: { count: { type: 'string', default: '100000' }, seed: { type: 'string' } },
});
const count = Number(values.count);
const seed = Number(values.seed ?? randomInt(2 ** 31));

/** A request costs a disk's fsync, and reading a body costs none. */
const bodiesPerRequest = 20;

/** How long the writer may take for what is still queued after the last request. */
const storedTimeoutMs = 60_000;

const say = (text: string) => process.stderr.write(`${text}\n`);
try {
  if (!Number.isSafeInteger(count) || count < 1) throw new Error('--count must be a whole number from 1 on');
  if (!Number.isSafeInteger(seed)) throw new Error('--seed must be a whole number');
  readInProcess();
  await sendToService();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  say(`\nTo see it again: npm run fuzz -- --count ${count} --seed ${seed}`);
  process.exitCode = 1;
}

function readInProcess(): void {
  const tally = new Tally();
  fc.assert(
    fc.property(anyBody, (body) => tally.add(outcomeInProcess(body))),
    { seed, numRuns: count, includeErrorInReport: true },
  );
  say(`${count} bodies read (seed ${seed}): ${tally}`);
}

async function sendToService(): Promise<void> {
  const numRuns = Math.ceil(count / bodiesPerRequest);
  await using system = await startSystem(process.env);
  const { ingestUrl, apiKey } = system.connection;
  const tally = new Tally();
  const ids = new Set<string>();
  const send = async (body: Body) => {
    const outcome = await outcomeOverHttp(ingestUrl, apiKey, body);
    const expected = outcomeInProcess(body);
    if (outcome !== expected) throw new Error(`the service answered ${outcome}, its reader ${expected}`);
    if (outcome === 'accepted') for (const id of idsOf(body)) ids.add(id);
    tally.add(outcome);
  };
  await fc.assert(fc.asyncProperty(anyBody, send), { seed, numRuns, includeErrorInReport: true });
  say(`${numRuns} bodies sent (seed ${seed}): ${tally}`);
  await expectStored(system, ids.size);
  say(`${ids.size} events stored, none in quarantine`);
}

function idsOf(body: Body): string[] {
  const { events } = JSON.parse(Buffer.from(body as string).toString()) as { events: { id: string }[] };
  return events.map(({ id }) => id.toLowerCase());
}

/** @throws Error when the events of the space do not become as many as were accepted, or one is in quarantine. */
async function expectStored({ sql, connection }: System, expected: number): Promise<void> {
  const deadlineMs = performance.now() + storedTimeoutMs;
  let stored = -1;
  while (stored !== expected && performance.now() < deadlineMs) {
    await sleep(100);
    const [row] =
      await sql`SELECT count(*)::int AS stored FROM events WHERE space_id = ${connection.spaceId}`;
    stored = row?.stored;
  }
  const quarantined = await sql`SELECT sqlstate, message FROM quarantine LIMIT 5`;
  if (stored === expected && quarantined.length === 0) return;
  throw new Error(
    `${expected} events were accepted, ${stored} are stored; in quarantine: ${JSON.stringify(quarantined)}`,
  );
}
