import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { env, pid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from '../../launcher/provision/cache-directory.ts';
import { runShell } from './shell.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(cacheDirectory(env, join(tmpdir(), 'weir')), 'clients');

/**
 * On two cores without other work a Collector takes a minute and a half to build, with its downloads. In the
 * first run of all tests they are built at the same time as a dozen others, which once took more than five.
 */
export const buildTimeoutMs = 600_000;

/** Cached builds of older versions of a program are removed when they were not used for this long. */
const keepMs = 24 * 60 * 60 * 1_000;

/**
 * The packages of a program cannot be downloaded on this machine; its tests are skipped, as without its
 * toolchain.
 */
export class PackagesUnreachableError extends Error {
  override name = 'PackagesUnreachableError';
}

const networkError =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|dial tcp|resolve host|connect to server|Could not transfer artifact|NewConnectionError|Temporary failure in name resolution|Network is unreachable/;

/** The environment of builds and runs: the PATH includes the tools that this repository installs. */
export const programEnvironment = { ...env, PATH: `${join(root, 'node_modules', '.bin')}:${env.PATH}` };

export interface Build {
  /** Names the program. */
  readonly name: string;
  /** 16 hexadecimal digits that identify all inputs of the build. */
  readonly hash: string;
  /** Writes the program's files. */
  write(directory: string): void;
  /** The directory, within the build's, in which the commands run. */
  readonly folder: string;
  readonly commands: readonly string[];
  /** Default: `buildTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Builds a program in a separate directory outside of the repository, which is reused while the hash is the
 * same.
 *
 * @returns the directory.
 * @throws PackagesUnreachableError, or Error with the output of the failed command.
 */
export async function buildOnce({
  name,
  hash,
  write,
  folder,
  commands,
  timeoutMs = buildTimeoutMs,
}: Build): Promise<string> {
  const built = join(cache, `${name}-${hash}`);
  if (!existsSync(built)) {
    // Not renamed afterwards: programs of a Python environment contain its path.
    const draft = `${built}.${pid}`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(join(draft, folder), { recursive: true });
    write(draft);
    try {
      await runBuild(commands, join(draft, folder), timeoutMs);
      symlinkSync(basename(draft), built);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      // If a concurrent test run finished first, its build is used.
      if (!existsSync(built)) throw error;
    }
    removeOld(name);
  }
  utimesSync(built, new Date(), new Date());
  return built;
}

async function runBuild(commands: readonly string[], cwd: string, timeoutMs: number): Promise<void> {
  const script = ['set -e', ...commands].join('\n');
  const { exitCode, stdout, stderr } = await runShell(script, {
    cwd,
    env: programEnvironment,
    timeoutMs,
  });
  if (exitCode === 0) return;
  const output = `${stdout}${stderr}`.slice(-4_000);
  if (networkError.test(output)) throw new PackagesUnreachableError(output);
  throw new Error(`${commands.join('\n')}\n${output}`);
}

function removeOld(name: string): void {
  const versions = readdirSync(cache).filter((entry) => new RegExp(`^${name}-[0-9a-f]{16}`).test(entry));
  for (const version of versions.map((entry) => join(cache, entry))) {
    // The target of a link may have been removed concurrently.
    const { mtimeMs = 0 } = statSync(version, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > keepMs) rmSync(version, { recursive: true, force: true });
  }
}
