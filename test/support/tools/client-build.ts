import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildOnce } from '../../../harness/tools/build-cache.ts';
import { readVersions } from '../../../harness/tools/toolchain.ts';
import type { ClientProgram } from './client-programs.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Files that the clients' tools generate are not copied. */
const generated = ['node_modules', '.venv', 'target', 'gen', '__pycache__'];

/** A client that is ready to run: its folder and its command. */
export interface BuiltClient {
  directory: string;
  command: string;
}

/**
 * Builds a client with the commands of its README, the last of which runs it. The build uses a copy outside
 * of the repository, which is reused until the client, the contract or a tool changes.
 *
 * @throws PackagesUnreachableError, or Error with the output of the failed command.
 */
export async function buildClient({ name, tools }: ClientProgram): Promise<BuiltClient> {
  const folder = join('examples', 'clients', name);
  const files = [...listFiles(join('proto', 'weir', 'ingest')), ...listFiles(folder)];
  const readme = readFileSync(join(root, folder, 'README.md'), 'utf8');
  const commands = /^```sh\n(.*?)^```/ms.exec(readme)?.[1]?.trim().split('\n') ?? [];
  const command = commands.pop() ?? '';
  const built = await buildOnce({
    name,
    hash: hashOf(files, readVersions(tools)),
    write: (directory) => copyFiles(files, directory),
    folder,
    commands,
  });
  return { directory: join(built, folder), command };
}

function listFiles(directory: string): string[] {
  return globSync(`${directory}/**`, {
    cwd: root,
    exclude: (path) => generated.some((name) => path.endsWith(name)),
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
  for (const file of files) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(root, file), join(target, file));
  }
}
