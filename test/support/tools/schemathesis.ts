import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { runShell } from '../../../harness/tools/shell.ts';
import { findMissingTool } from '../../../harness/tools/toolchain.ts';
import { cacheDirectory } from '../../../launcher/provision/cache-directory.ts';

const directory = fileURLToPath(new URL('../../contract/schemathesis', import.meta.url));
const requirements = join(directory, 'requirements.txt');

/** Downloading the packages takes half a minute, longer on a slow network. */
const installTimeoutMs = 300_000;

/** pip's errors without a network. It reports an unreachable index as one that has no matching packages. */
const unreachable = /NewConnectionError|Temporary failure in name resolution|No matching distribution found/;

/** Schemathesis, or the reason why it is not available on this machine. */
export type Schemathesis = { python: string } | { missing: string };

/**
 * Installs Schemathesis into a virtual environment in the cache, with exactly the packages of
 * `requirements.txt`.
 *
 * @throws Error when the installation fails for another reason than a missing Python or package index.
 */
export async function findSchemathesis(): Promise<Schemathesis> {
  const missing = findMissingTool(['python3']);
  if (missing !== undefined) return { missing };
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const home = join(cacheDirectory(env, join(tmpdir(), 'weir')), `schemathesis-${version}`);
  const python = join(home, 'bin', 'python');
  // Created last: an environment without this file is incomplete.
  const marker = join(home, 'complete');
  if (existsSync(marker)) return { python };
  rmSync(home, { recursive: true, force: true });
  const install = [
    `python3 -m venv '${home}'`,
    `'${python}' -m pip install --quiet --disable-pip-version-check --no-deps -r '${requirements}'`,
    `touch '${marker}'`,
  ].join(' && ');
  const { exitCode, stderr } = await runShell(install, { cwd: directory, env, timeoutMs: installTimeoutMs });
  if (exitCode === 0) return { python };
  if (unreachable.test(stderr)) return { missing: 'its packages cannot be downloaded' };
  throw new Error(`Schemathesis could not be installed:\n${stderr}`);
}

/**
 * Generates valid and invalid requests from a service's OpenAPI document, and compares every response with
 * the document.
 *
 * @param headers sent with every request.
 * @returns the report, and an exit code other than 0 when a response does not match the document.
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
    // A fixed seed: the same requests in every run.
    '--generation-deterministic --max-examples 100 --no-color',
  ];
  const script = `'${python}' -m schemathesis.cli ${args.join(' ')}`;
  const { exitCode, stdout, stderr } = await runShell(script, { cwd: tmpdir(), env, timeoutMs: 150_000 });
  return { exitCode, report: `${stdout}${stderr}` };
}
