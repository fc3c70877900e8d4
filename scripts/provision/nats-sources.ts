import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { getFromDebian } from './nats-from-debian.ts';
import { getFromGo } from './nats-from-go.ts';
import { getFromRelease } from './nats-from-release.ts';
import { compareVersions, natsVersion, natsVersionMin, readNatsVersion } from './nats-version.ts';

/** One place to get a nats-server from. */
export interface NatsSource {
  /** For progress and errors, e.g. "the official release". */
  name: string;
  /**
   * Brings the program into a scratch directory.
   *
   * @returns its path.
   * @throws Error that says why this source does not work here.
   */
  get(scratch: string, signal?: AbortSignal): Promise<string>;
}

export interface NatsSearch {
  /** The directories of $PATH, as it writes them. */
  searchPath: string;
  /** Where what was got earlier is kept, e.g. ~/.cache/weir. */
  cacheDir: string;
  /** Told what happens, a short text a step. */
  report?: (step: string) => void;
  sources?: readonly NatsSource[];
  /** Ends the search. */
  signal?: AbortSignal;
}

export interface FoundNatsServer {
  binary: string;
  version: string;
}

const downloadSources: readonly NatsSource[] = [
  { name: 'the official release', get: getFromRelease },
  { name: "Debian's testing suite", get: getFromDebian },
  { name: 'go install', get: getFromGo },
];

/**
 * Finds a nats-server, or gets one: on the PATH, in the cache, then from the sources in their order.
 *
 * @throws Error that lists why each did not work, and what to install by hand.
 */
export async function findNatsServer(search: NatsSearch): Promise<FoundNatsServer> {
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
    search.report?.(`getting nats-server from ${source.name}`);
    try {
      return await getInto(search.cacheDir, source, search.signal);
    } catch (error) {
      search.signal?.throwIfAborted();
      failures.push(`${source.name}: ${reasonOf(error)}`);
    }
  }
  throw new Error(
    [
      'No nats-server was found, and none could be got:',
      ...failures.map((failure) => `  - ${failure}`),
      `Put a nats-server ${natsVersionMin} or newer (we test with ${natsVersion}) on the PATH, from https://github.com/nats-io/nats-server/releases, or set NATS_URL to one that runs with JetStream and \`sync_interval: always\`.`,
    ].join('\n'),
  );
}

/** The copies got earlier, newest first. */
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

/** Two starts may get it at the same time: each renames a whole file into place. */
async function getInto(cacheDir: string, source: NatsSource, signal?: AbortSignal): Promise<FoundNatsServer> {
  mkdirSync(cacheDir, { recursive: true });
  // Not in the system's temporary directory: many machines let nothing run from there.
  const scratch = mkdtempSync(join(cacheDir, 'scratch-'));
  try {
    const got = await source.get(scratch, signal);
    const version = await readNatsVersion(got);
    const binary = join(cacheDir, `nats-server-${version}`);
    chmodSync(got, 0o755);
    renameSync(got, binary);
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
