import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { cacheDirectory } from '../../launcher/provision/cache-directory.ts';
import { findNatsServer } from '../../launcher/provision/nats/nats-sources.ts';
import { findUnsupported, once, repeated, runChaos } from './chaos.ts';
import type { Fault } from './fault.ts';
import { faults } from './faults/index.ts';
import type { Round } from './round.ts';
import { renderNotes, renderRound, renderTable } from './table.ts';

/**
 * `npm run chaos [-- --once | --minutes M] [--fault NAME]… [--seed N] [--report FILE] [--keep] [--list]`:
 * starts Weirs of its own, puts load on them, injects the faults of docs/durability.md, and compares the
 * database with the responses that the clients got. `--once`, the default, injects every fault once with
 * short holds, on two systems at a time. `--minutes` repeats them at full load, with the holds of the fault
 * matrix. `--report` writes the results as JSON. `--keep` keeps the logs.
 */
const { values } = parseArgs({
  options: {
    once: { type: 'boolean', default: false },
    fault: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    report: { type: 'string' },
    keep: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const log = (line: string) => process.stderr.write(`${line}\n`);
if (values.list) for (const { name, title } of faults) process.stdout.write(`${name.padEnd(32)} ${title}\n`);
else await main();

async function main(): Promise<void> {
  if (values.once && values.minutes !== undefined) throw new Error('use either --once or --minutes');
  const chosen = chooseFaults(values.fault);
  const seed = Number(values.seed ?? randomInt(2 ** 31));
  const minutes = Number(values.minutes ?? 0);
  const mode = values.minutes === undefined ? once : repeated;
  const unsupported = await findUnsupported(chosen);
  const supported = chosen.filter((one) => unsupported.every(({ fault }) => fault !== one));
  const rounds: Round[] = [];
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const command = replayCommand(seed);
  log(`seed ${seed}; to repeat this run: ${command}`);
  const directory = mkdtempSync(join(tmpdir(), 'weir-chaos-cache-'));
  try {
    const { binary: natsBinary } = await findNatsServer({
      searchPath: process.env.PATH ?? '',
      cacheDir: cacheDirectory(process.env, directory),
      report: log,
    });
    await runChaos({
      faults: supported,
      seed,
      mode,
      minutes,
      environment: { natsBinary, parentDirectory: tmpdir(), env: process.env, keep: values.keep, log },
      signal: stop.signal,
      onRound(round) {
        rounds.push(round);
        log(renderRound(round));
      },
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  process.stdout.write(`\n${renderTable(rounds, unsupported)}\n\n${renderNotes(rounds)}`);
  process.stdout.write(
    `Seed ${seed}; ${cpus().length} cores, Node ${process.version}; the load generator runs on the same machine.\n`,
  );
  process.stdout.write(`To repeat this run: ${command}\n`);
  const failed = rounds.filter(({ violations }) => violations.length > 0);
  if (values.report !== undefined) {
    const report = {
      passed: rounds.length - failed.length,
      failures: failed.map(({ fault, violations }) => `${fault.name}: ${violations[0]}`),
      skipped: unsupported.map(({ fault, reason }) => ({ fault: fault.name, reason })),
    };
    writeFileSync(values.report, `${JSON.stringify(report, null, 2)}\n`);
  }
  if (failed.length > 0 || stop.signal.aborted) process.exitCode = 1;
}

function replayCommand(seed: number): string {
  return [
    'npm run chaos --',
    ...values.fault.map((name) => `--fault ${name}`),
    `--seed ${seed}`,
    values.minutes === undefined ? '--once' : `--minutes ${values.minutes}`,
  ].join(' ');
}

function chooseFaults(names: readonly string[]): Fault[] {
  const unknown = names.filter((name) => !faults.some((fault) => fault.name === name));
  if (unknown.length > 0) {
    throw new Error(`unknown faults: ${unknown.join(', ')}. --list prints all names`);
  }
  return faults.filter(({ name }) => names.length === 0 || names.includes(name));
}
