import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { preloadOption } from '../../launcher/preload.mjs';
import { cacheDirectory } from '../../launcher/provision/cache-directory.ts';

/** The version that installations are upgraded from. To change with each release. */
export const lastRelease = { version: '0.1.0', commit: 'aaffc84e72eed2630c6ef0dad6606bba599cb5c1' };

const ownRoot = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** `npm ci` of the packages that services need. */
const installTimeoutMs = 300_000;

/**
 * Makes a checkout of the last release, with the packages of its own lock file, in the user's cache. Later
 * calls find it there.
 *
 * @returns its root.
 * @throws Error when the history of this checkout does not have the commit, or the packages cannot be
 * downloaded.
 */
export async function openRelease(env: Record<string, string | undefined>): Promise<string> {
  const { version, commit } = lastRelease;
  const releases = join(cacheDirectory(env, join(tmpdir(), 'weir')), 'releases');
  const root = join(releases, `${version}-${commit.slice(0, 12)}`);
  if (existsSync(root)) return root;
  mkdirSync(releases, { recursive: true });
  const draft = mkdtempSync(join(releases, 'draft-'));
  try {
    const archive = join(draft, 'release.tar');
    await run('git', ['archive', `--output=${archive}`, commit], { cwd: ownRoot });
    await run('tar', ['-xf', archive], { cwd: draft });
    rmSync(archive);
    const install = ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts'];
    await run('npm', install, { cwd: draft, timeout: installTimeoutMs });
    renameSync(draft, root);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process may have been faster.
    if (!existsSync(root)) throw error;
  }
  return root;
}

/** Why this machine cannot run the last release; undefined when it can. */
export async function findReleaseFault(env: Record<string, string | undefined>): Promise<string | undefined> {
  try {
    await openRelease(env);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    return `there is no copy of Weir ${lastRelease.version}: ${reason.trim().split('\n').at(-1)}`;
  }
}

/** The command line of another checkout. @returns what it printed, parsed as JSON. */
export function openCommandLine(root: string, env: Record<string, string>) {
  return async (...args: readonly string[]): Promise<Record<string, string>> => {
    const { stdout } = await run(execPath, [preloadOption(root), join(root, 'cli/main.ts'), ...args], {
      env,
    });
    return JSON.parse(stdout);
  };
}

export type CommandLine = ReturnType<typeof openCommandLine>;
