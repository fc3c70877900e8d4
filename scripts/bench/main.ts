import { cpus } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { measureAbuse } from './abuse.ts';
import { type Figures, measureBytesPerEvent, measureHttpToPostgres, measureRound } from './measures.ts';
import { peakResidentBytes } from './process-stats.ts';
import { medianFigures, renderReport } from './report.ts';
import { startSystem } from './system.ts';
import { loadWorkload } from './workload.ts';

/**
 * `npm run bench [-- --rounds N --seconds S --only abuse]`: starts a Weir of its own, loads it, and prints the table of
 * design §6, or one part of it. It measures; it does not judge: nothing fails on a slow machine.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '6' },
    only: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const { only } = values;
if (only !== undefined && only !== 'abuse') throw new Error('--only takes: abuse');

const workload = await loadWorkload();
const say = (text: string) => process.stderr.write(`${text}\n`);
say(`${workload.source}: ${workload.events.length} events`);
if (only === undefined) say(`${rounds} rounds of ${seconds} s a measure`);
await using system = await startSystem(process.env);
say('warming up …');
await measureHttpToPostgres(system, workload, 2 * seconds);
const figures = only === undefined ? await measureAll() : await measureAbuse(system, workload, seconds);
process.stdout.write(
  `\n${renderReport(figures, only)}\n\n${cpus().length} cores, Node ${process.version}, everything on this machine, the load too.\n`,
);

async function measureAll(): Promise<Figures> {
  // Now, while the database holds nothing but batches of real events.
  const bytesPerEvent = await measureBytesPerEvent(system.sql);
  await measureRound(system, workload, Math.min(seconds, 2));
  const results: Figures[] = [];
  for (let round = 1; round <= rounds; round++) {
    results.push(await measureRound(system, workload, seconds));
    const { storedPerSecond = 0, singlesPerSecond = 0 } = results.at(-1) ?? {};
    say(
      `round ${round}: ${Math.round(storedPerSecond)} events/s, ${Math.round(singlesPerSecond)} requests/s`,
    );
  }
  const memory = {
    ingestBytes: peakResidentBytes(system.pidOf('ingest')),
    writerBytes: peakResidentBytes(system.pidOf('writer')),
    dashboardBytes: peakResidentBytes(system.pidOf('dashboard-api')),
  };
  return {
    ...medianFigures(results),
    bytesPerEvent,
    ...memory,
    ...(await measureAbuse(system, workload, seconds)),
  };
}
