import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from '../../scripts/provision/cache-directory.ts';
import { type ClientProgram, findMissingTool } from './client-programs.ts';
import { runShell } from './shell.ts';

const directory = fileURLToPath(new URL('../schemathesis', import.meta.url));
const requirements = join(directory, 'requirements.txt');

const needs: ClientProgram = { name: 'schemathesis', tools: ['python3'] };

/** Downloading the packages takes half a minute, on a slow line some more. */
const installTimeoutMs = 300_000;

/** How pip says that it reached no index. It takes an index that it did not reach for one that has nothing. */
const unreachable = /NewConnectionError|Temporary failure in name resolution|No matching distribution found/;

/** Schemathesis, or why this machine cannot have it. */
export type Schemathesis = { python: string } | { missing: string };

/**
 * Schemathesis in a virtual environment of its own, in the cache, with exactly the packages of `requirements.txt`.
 *
 * @throws Error when installing fails for another reason than a missing Python or package index.
 */
export async function findSchemathesis(): Promise<Schemathesis> {
  const missing = findMissingTool(needs);
  if (missing !== undefined) return { missing };
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const home = join(cacheDirectory(env, join(tmpdir(), 'weir')), `schemathesis-${version}`);
  const python = join(home, 'bin', 'python');
  // The last thing to be made: an environment without it was not finished.
  const mark = join(home, 'complete');
  if (existsSync(mark)) return { python };
  rmSync(home, { recursive: true, force: true });
  const install = [
    `python3 -m venv '${home}'`,
    `'${python}' -m pip install --quiet --disable-pip-version-check --no-deps -r '${requirements}'`,
    `touch '${mark}'`,
  ].join(' && ');
  const { exitCode, stderr } = await runShell(install, { cwd: directory, env, timeoutMs: installTimeoutMs });
  if (exitCode === 0) return { python };
  if (unreachable.test(stderr)) return { missing: 'its packages cannot be downloaded' };
  throw new Error(`Schemathesis could not be installed:\n${stderr}`);
}

/**
 * Sends what the document of a service describes, and what it forbids, and compares every answer with the document.
 *
 * @param headers of every request.
 * @returns its report; an exit code other than 0 when an answer was not as the document says.
 */
export async function runSchemathesis(
  python: string,
  documentUrl: string,
  headers: Record<string, string>,
): Promise<{ exitCode: number | null; report: string }> {
  const args = [
    `--config-file '${join(directory, 'schemathesis.toml')}' run '${documentUrl}'`,
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    '--checks all --phases coverage,fuzzing --continue-on-failure',
    // The same requests every time.
    '--generation-deterministic --max-examples 100 --no-color',
  ];
  const script = `'${python}' -m schemathesis.cli ${args.join(' ')}`;
  const { exitCode, stdout, stderr } = await runShell(script, { cwd: tmpdir(), env, timeoutMs: 150_000 });
  return { exitCode, report: `${stdout}${stderr}` };
}
