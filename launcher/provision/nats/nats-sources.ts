import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { getFromDebian } from './nats-from-debian.ts';
import { getFromGo } from './nats-from-go.ts';
import { getFromRelease } from './nats-from-release.ts';
import { compareVersions, natsVersion, natsVersionMin, readNatsVersion } from './nats-version.ts';

export interface NatsSource {
  /** Shown in progress and errors, e.g. "the official release". */
  name: string;
  /**
   * Puts the program into a scratch directory. @returns its path.
   * @throws Error with the reason why this source does not work on this machine.
   */
  get(scratch: string, signal?: AbortSignal): Promise<string>;
}

export interface NatsSearch {
  searchPath: string;
  cacheDir: string;
  report?: (step: string) => void;
  sources?: readonly NatsSource[];
  signal?: AbortSignal;
}

const downloadSources: readonly NatsSource[] = [
  { name: 'the official release', get: getFromRelease },
  { name: "Debian's testing suite", get: getFromDebian },
  { name: 'go install', get: getFromGo },
];

/**
 * Finds a nats-server on the PATH or in the cache, or gets one from the first source that works.
 * @throws Error that lists the reason of each failure, and the program to install manually.
 */
export async function findNatsServer(search: NatsSearch): Promise<{ binary: string; version: string }> {
  const failures: string[] = [];
  const onPath = search.searchPath.split(delimiter).map((directory) => join(directory, 'nats-server'));
  for (const binary of [...onPath, ...cachedServers(search.cacheDir)]) {
    try {
      return { binary, version: await readNatsVersion(binary) };
    } catch (error) {
      const reason = reasonOf(error);
      if (!reason.endsWith('is not installed')) failures.push(reason);
    }
  }
  for (const source of search.sources ?? downloadSources) {
    search.report?.(`downloading nats-server from ${source.name}`);
    try {
      return await download(search.cacheDir, source, search.signal);
    } catch (error) {
      search.signal?.throwIfAborted();
      failures.push(`${source.name}: ${reasonOf(error)}`);
    }
  }
  throw new Error(
    [
      'No nats-server was found, and none could be downloaded:',
      ...failures.map((failure) => `  - ${failure}`),
      `Install nats-server ${natsVersionMin} or newer (tested with ${natsVersion}) on the PATH, from https://github.com/nats-io/nats-server/releases, or set NATS_URL to one that runs with JetStream and \`sync_interval: always\`.`,
    ].join('\n'),
  );
}

/** The cached copies, newest first. */
function cachedServers(cacheDir: string): string[] {
  try {
    return readdirSync(cacheDir)
      .filter((name) => /^nats-server-\d+\.\d+\.\d+$/.test(name))
      .sort((a, b) => compareVersions(b.slice(12), a.slice(12)))
      .map((name) => join(cacheDir, name));
  } catch {
    return [];
  }
}

/** Safe for concurrent starts: each renames a complete file into place. */
async function download(cacheDir: string, source: NatsSource, signal?: AbortSignal) {
  mkdirSync(cacheDir, { recursive: true });
  // Not in the system's temporary directory, which is often mounted noexec.
  const scratch = mkdtempSync(join(cacheDir, 'scratch-'));
  try {
    const downloaded = await source.get(scratch, signal);
    const version = await readNatsVersion(downloaded);
    const binary = join(cacheDir, `nats-server-${version}`);
    chmodSync(downloaded, 0o755);
    renameSync(downloaded, binary);
    return { binary, version };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`;
}
