import { writeFileSync } from 'node:fs';
import { createRandom } from '../lib/random.ts';
import { bookRepair, cancelRental, changeOrder, chooseCustomer } from './bike-shop.ts';
import { RunRecorder } from './run-recorder.ts';

const runs = 12;
const runIntervalMs = 437_000;
const firstStartMs = Date.parse('2026-11-03T08:00:00Z');

/** Generates the sample: the events of some runs of a support agent, as NDJSON. The output is deterministic. */
export function generateSample(): string {
  const random = createRandom(2026);
  const scenarios = [changeOrder, bookRepair, cancelRental];
  const lines: string[] = [];
  for (let run = 0; run < runs; run++) {
    const customer = chooseCustomer(random);
    const recorder = new RunRecorder(random, customer, firstStartMs + run * runIntervalMs);
    const turns = scenarios[run % scenarios.length]?.(random, customer) ?? [];
    for (const turn of turns) recorder.addTurn(turn);
    lines.push(...recorder.events.map((event) => `${JSON.stringify(event)}\n`));
  }
  return lines.join('');
}

// `node examples/generate.ts` writes the sample file.
if (import.meta.main) writeFileSync(new URL('events.ndjson', import.meta.url), generateSample());
