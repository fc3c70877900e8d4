import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { env, pid } from 'node:process';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from '../../scripts/provision/cache-directory.ts';
import { type ClientProgram, readVersions } from './client-programs.ts';
import { runShell } from './shell.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(cacheDirectory(env, join(tmpdir(), 'weir')), 'clients');

/** Compiling gRPC for Rust takes a minute on a small machine, downloading it perhaps some more. */
const buildTimeoutMs = 600_000;

/** Builds of other versions of a client are removed when nobody ran them for so long. */
const keepMs = 24 * 60 * 60 * 1_000;

/** What the tools of a reader's checkout have made is not copied. */
const made = ['node_modules', '.venv', 'target', 'gen', '__pycache__', 'python-grpc/weir'];

/** The packages could not be downloaded: without them the toolchain is as good as missing. */
export class PackagesUnreachable extends Error {}

const networkTrouble =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|dial tcp|resolve host|connect to server|Could not transfer artifact|NewConnectionError|Temporary failure in name resolution|Network is unreachable/;

/** A client that is ready to run: its folder, and the command for it. */
export interface BuiltClient {
  directory: string;
  command: string;
}

/** The environment of builds and runs: it has the tools that this repository installs. */
export const clientEnvironment = { ...env, PATH: `${join(root, 'node_modules', '.bin')}:${env.PATH}` };

/**
 * Builds a client as its README tells: all commands but the last, which runs it. It happens in a copy outside of the
 * repository, which is used again until the client, the contract or a tool changes.
 *
 * @throws PackagesUnreachable, or Error with what the failing command wrote.
 */
export async function buildClient(program: ClientProgram): Promise<BuiltClient> {
  const { name } = program;
  const files = [
    ...listFiles(join('proto', 'weir', 'ingest')),
    ...listFiles(join('examples', 'clients', name)),
  ];
  const copy = join(cache, `${name}-${hashOf(files, readVersions(program))}`);
  const readme = readFileSync(join(root, 'examples', 'clients', name, 'README.md'), 'utf8');
  const commands = /^```sh\n(.*?)^```/ms.exec(readme)?.[1]?.trim().split('\n') ?? [];
  const command = commands.pop() ?? '';
  if (!existsSync(copy)) {
    const draft = `${copy}.${pid}`;
    copyFiles(files, draft);
    try {
      await runBuild(commands, join(draft, 'examples', 'clients', name));
      renameSync(draft, copy);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      // Another test run may have been faster: then its build is taken.
      if (!existsSync(copy)) throw error;
    }
    removeOld(name);
  }
  utimesSync(copy, new Date(), new Date());
  return { directory: join(copy, 'examples', 'clients', name), command };
}

async function runBuild(commands: readonly string[], cwd: string): Promise<void> {
  const script = ['set -e', ...commands].join('\n');
  const { exitCode, stdout, stderr } = await runShell(script, {
    cwd,
    env: clientEnvironment,
    timeoutMs: buildTimeoutMs,
  });
  if (exitCode === 0) return;
  const output = `${stdout}${stderr}`.slice(-4_000);
  if (networkTrouble.test(output)) throw new PackagesUnreachable(output);
  throw new Error(`${commands.join('\n')}\n${output}`);
}

function removeOld(name: string): void {
  const versions = readdirSync(cache).filter((entry) => new RegExp(`^${name}-[0-9a-f]{16}`).test(entry));
  for (const version of versions.map((entry) => join(cache, entry))) {
    if (Date.now() - statSync(version).mtimeMs > keepMs) rmSync(version, { recursive: true, force: true });
  }
}

function listFiles(directory: string): string[] {
  return globSync(`${directory}/**`, {
    cwd: root,
    exclude: (path) => made.some((name) => path.endsWith(name)),
  })
    .filter((path) => statSync(join(root, path)).isFile())
    .sort();
}

function hashOf(files: readonly string[], versions: string): string {
  const hash = createHash('sha256').update(versions);
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}

function copyFiles(files: readonly string[], target: string): void {
  rmSync(target, { recursive: true, force: true });
  for (const file of files) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(root, file), join(target, file));
  }
}
