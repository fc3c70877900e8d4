import { randomInt } from 'node:crypto';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { messageOf } from '../../platform/thrown.ts';
import { type RunningWeir, startWeir } from '../system/weir.ts';
import { anyBody, type Body } from './bodies.ts';
import { type Outcome, outcomeInProcess, outcomeOverHttp } from './outcome.ts';

/** Counts outcomes, which show whether the generator produces both accepted and rejected bodies. */
class Tally {
  readonly #counts = new Map<Outcome, number>();

  add(outcome: Outcome): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  toString(): string {
    return [...this.#counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  }
}

/**
 * `npm run fuzz [-- --count N --seed S]`: checks that any body is accepted, or rejected with a 400 or 413 of
 * docs/api.md §7, and that what a service accepted is stored and not in quarantine. N bodies are read in this
 * process, and a twentieth as many are sent to a Weir of its own. Seed and count determine the bodies; a
 * failure is shrunk, and printed with both.
 */
const { values } = parseArgs({
  options: { count: { type: 'string', default: '100000' }, seed: { type: 'string' } },
});
const count = Number(values.count);
const seed = Number(values.seed ?? randomInt(2 ** 31));

/** A request costs an fsync, so fewer bodies are sent than read. */
const bodiesPerRequest = 20;

/** How long the writer may take to store what is queued after the last request. */
const storedTimeoutMs = 60_000;

const say = (text: string) => process.stderr.write(`${text}\n`);
try {
  if (!Number.isSafeInteger(count) || count < 1) throw new Error('--count must be a positive integer');
  if (!Number.isSafeInteger(seed)) throw new Error('--seed must be an integer');
  readInProcess();
  await sendToService();
} catch (error) {
  say(messageOf(error));
  say(`\nTo reproduce: npm run fuzz -- --count ${count} --seed ${seed}`);
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
  await using weir = await startWeir();
  const { ingestUrl, apiKey } = weir.connection;
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
  await expectStored(weir, ids.size);
  say(`${ids.size} events stored, none in quarantine`);
}

function idsOf(body: Body): string[] {
  const { events } = JSON.parse(Buffer.from(body as string).toString()) as { events: { id: string }[] };
  return events.map(({ id }) => id.toLowerCase());
}

/** @throws Error when not all accepted events are stored in time, or an event is in quarantine. */
async function expectStored({ sql, connection }: RunningWeir, expected: number): Promise<void> {
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
