import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildOnce } from '../../../harness/tools/build-cache.ts';
import { runShell } from '../../../harness/tools/shell.ts';
import { readVersions } from '../../../harness/tools/toolchain.ts';
import { median } from '../../median.ts';
import { installTimeoutMs } from '../peer.ts';

const packages = ['openai==3.57.0', 'langfuse==5.0.4', 'langsmith==0.15.1'];
const subjects = ['nothing', 'weir', 'weir with a spool', 'langfuse', 'langsmith'];
const program = fileURLToPath(new URL('calls.py', import.meta.url));
const sources = fileURLToPath(new URL('../../../sdk/python/src', import.meta.url));

/**
 * What `calls.py` prints: CPU time of the import, of a call in its thread, and of a call with its delivery.
 */
interface Cost {
  importMs: number;
  callUs: number;
  p99Us: number;
  processUs: number;
  memoryMb: number;
}

/**
 * Measures what observing a client of OpenAI costs in Python, beside the packages of two peers: CPU time, in
 * turns, of calls with a prompt of 10 KB, and the memory that is added.
 * @throws PackagesUnreachableError
 */
export async function measurePythonPackages({
  rounds,
  calls,
  say,
}: {
  rounds: number;
  calls: number;
  say(text: string): void;
}): Promise<string> {
  const python = await install();
  const compiled = mkdtempSync(join(tmpdir(), 'weir-bench-python-'));
  try {
    // As pip installs it: compiling the sources takes longer than importing them.
    cpSync(sources, compiled, { recursive: true });
    await runShell(`'${python}' -m compileall -q '${compiled}'`, { cwd: compiled, env, timeoutMs: 60_000 });
    const costs = new Map<string, Cost[]>(subjects.map((subject) => [subject, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const [subject, known] of costs) {
        const cost = await measureOnce({ python, compiled }, subject, calls);
        say(`round ${round}, ${subject}: ${Math.round(cost.callUs)} µs a call`);
        known.push(cost);
      }
    }
    return render(new Map([...costs].map(([subject, known]) => [subject, middleOf(known)])));
  } finally {
    rmSync(compiled, { recursive: true });
  }
}

async function install(): Promise<string> {
  const commands = [
    'python3 -m venv .venv',
    `.venv/bin/python -m pip install --quiet --disable-pip-version-check ${packages.map((one) => `'${one}'`).join(' ')}`,
  ];
  const hash = createHash('sha256').update(readVersions(['python3']) + commands.join('\n'));
  const directory = await buildOnce({
    name: 'python-packages',
    hash: hash.digest('hex').slice(0, 16),
    folder: '.',
    commands,
    timeoutMs: installTimeoutMs,
    write: () => {},
  });
  return join(directory, '.venv/bin/python');
}

async function measureOnce(
  { python, compiled }: { python: string; compiled: string },
  subject: string,
  calls: number,
): Promise<Cost> {
  const spool = mkdtempSync(join(tmpdir(), 'weir-bench-python-'));
  try {
    const { exitCode, stdout, stderr } = await runShell(
      `'${python}' '${program}' '${subject}' ${calls} '${spool}'`,
      { cwd: spool, env: { ...env, PYTHONPATH: compiled, NO_PROXY: '127.0.0.1' }, timeoutMs: 300_000 },
    );
    if (exitCode !== 0) throw new Error(`${subject}: ${stderr}`);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  } finally {
    rmSync(spool, { recursive: true });
  }
}

function middleOf(costs: readonly Cost[]): Cost {
  const of = (name: keyof Cost) => median(costs.map((cost) => cost[name]));
  return {
    importMs: of('importMs'),
    callUs: of('callUs'),
    p99Us: of('p99Us'),
    processUs: of('processUs'),
    memoryMb: of('memoryMb'),
  };
}

/** The times are those that the subject adds to a call that nothing observes. */
function render(costs: ReadonlyMap<string, Cost>): string {
  const bare = costs.get('nothing');
  const rows = [...costs].map(([subject, cost]) => {
    const added = (name: 'callUs' | 'p99Us' | 'processUs') => Math.round(cost[name] - (bare?.[name] ?? 0));
    const times = `${added('callUs')} | ${added('p99Us')} | ${added('processUs')}`;
    return `| ${subject} | ${cost.importMs.toFixed(0)} | ${times} | ${cost.memoryMb.toFixed(1)} |`;
  });
  return [
    `Python, CPU time beside a bare call of ${Math.round(bare?.callUs ?? 0)} µs`,
    '',
    '| Observed by | import and start, ms | a call, µs | p99, µs | with delivery, µs | memory, MB |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
