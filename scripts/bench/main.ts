import { cpus } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Figures, measureBytesPerEvent, measureHttpToPostgres, measureRound } from './measures.ts';
import { peakResidentBytes } from './process-stats.ts';
import { medianFigures, renderReport } from './report.ts';
import { startSystem } from './system.ts';
import { loadWorkload } from './workload.ts';

/**
 * `npm run bench [-- --rounds N --seconds S]`: starts a Weir of its own, loads it, and prints the table of design §6.
 * It measures; it does not judge: nothing fails on a slow machine.
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '6' } },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

const workload = await loadWorkload();
const say = (text: string) => process.stderr.write(`${text}\n`);
say(`${workload.source}: ${workload.events.length} events; ${rounds} rounds of ${seconds} s a measure`);
await using system = await startSystem(process.env);
say('warming up …');
await measureHttpToPostgres(system, workload, 2 * seconds);
// Now, while the database holds nothing but batches of real events.
const bytesPerEvent = await measureBytesPerEvent(system.sql);
await measureRound(system, workload, Math.min(seconds, 2));
const results: Figures[] = [];
for (let round = 1; round <= rounds; round++) {
  results.push(await measureRound(system, workload, seconds));
  const { storedPerSecond = 0, singlesPerSecond = 0 } = results.at(-1) ?? {};
  say(`round ${round}: ${Math.round(storedPerSecond)} events/s, ${Math.round(singlesPerSecond)} requests/s`);
}
const figures = {
  ...medianFigures(results),
  bytesPerEvent,
  ingestBytes: peakResidentBytes(system.pidOf('ingest')),
  writerBytes: peakResidentBytes(system.pidOf('writer')),
  dashboardBytes: peakResidentBytes(system.pidOf('dashboard-api')),
};
process.stdout.write(
  `\n${renderReport(figures)}\n\n${cpus().length} cores, Node ${process.version}, everything on this machine, the load too.\n`,
);
