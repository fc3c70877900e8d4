import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { cacheDirectory } from '../provision/cache-directory.ts';
import { findNatsServer } from '../provision/nats-sources.ts';
import { findSkipped, runChaos } from './chaos.ts';
import type { Fault } from './fault.ts';
import { faults } from './faults/index.ts';
import type { Round } from './round.ts';
import { renderTable } from './table.ts';

/**
 * `npm run chaos [-- --fault NAME]… [--seed N] [--minutes M] [--keep] [--list]`: starts a Weir of its own, loads it, breaks it in
 * every way of docs/durability.md, and holds the database to what the clients were told. Without --minutes every fault
 * is injected once, and held for a few seconds; with it, again and again, and as long as the fault matrix says. With --keep the logs
 * stay where they were written.
 */
const { values } = parseArgs({
  options: {
    fault: { type: 'string', multiple: true },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    keep: { type: 'boolean' },
    list: { type: 'boolean' },
  },
});
const say = (line: string) => process.stderr.write(`${line}\n`);
if (values.list) for (const { name, title } of faults) process.stdout.write(`${name.padEnd(32)} ${title}\n`);
else await main();

async function main(): Promise<void> {
  const chosen = chooseFaults(values.fault ?? []);
  const seed = Number(values.seed ?? randomInt(2 ** 31));
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  const replay = [
    'npm run chaos --',
    ...(values.fault ?? []).map((name) => `--fault ${name}`),
    `--seed ${seed}`,
  ];
  if (minutes !== undefined) replay.push(`--minutes ${minutes}`);
  const skipped = await findSkipped(chosen);
  const left = new Set(skipped.map(({ fault }) => fault));
  const rounds: Round[] = [];
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  say(`seed ${seed}; to see it again: ${replay.join(' ')}`);
  const directory = mkdtempSync(join(tmpdir(), 'weir-chaos-cache-'));
  try {
    const { binary: natsBinary } = await findNatsServer({
      searchPath: process.env.PATH ?? '',
      cacheDir: cacheDirectory(process.env, directory),
      report: say,
    });
    await runChaos({
      faults: chosen.filter((fault) => !left.has(fault)),
      seed,
      ...(minutes !== undefined && { minutes }),
      slack: 1,
      surroundings: {
        natsBinary,
        parentDirectory: tmpdir(),
        env: process.env,
        keep: values.keep ?? false,
        log: say,
      },
      signal: stop.signal,
      onRound(round) {
        rounds.push(round);
        say(describeRound(round));
      },
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  process.stdout.write(`\n${renderTable(rounds, skipped)}\n\n`);
  const notes = new Set(
    rounds.flatMap((round) => round.notes.map((note) => `- ${round.fault.name}: ${note}`)),
  );
  if (notes.size > 0) process.stdout.write(`${[...notes].join('\n')}\n\n`);
  process.stdout.write(
    `Seed ${seed}; ${cpus().length} cores, Node ${process.version}, everything on this machine, the load too.\n`,
  );
  process.stdout.write(`To see it again: ${replay.join(' ')}\n`);
  if (rounds.some(({ violations }) => violations.length > 0)) process.exitCode = 1;
}

function chooseFaults(names: readonly string[]): Fault[] {
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name));
  if (unknown.length > 0) throw new Error(`no fault is called ${unknown.join(' or ')}; --list names all`);
  return faults.filter(({ name }) => names.length === 0 || names.includes(name));
}

function describeRound({ fault, violations, ...round }: Round): string {
  const figures = `${round.acceptedBatches} accepted, ${round.unknownOutcomes} unknown, ${round.lost} lost, ${Math.round(round.unavailableMs)} ms without a 202, ${Math.round(round.recoveryMs)} ms to recover, drained in ${Math.round(round.drainMs)} ms`;
  const verdict = violations.length === 0 ? 'holds' : `BROKEN\n    ${violations.join('\n    ')}`;
  return `${fault.name}: ${figures}: ${verdict}`;
}
