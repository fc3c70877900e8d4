import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { runProgram } from '../../launcher/process/run-program.ts';

/** What the npm package has of the checkout: what runs, and what an operator reads. */
const folders = [
  ...['platform', 'event', 'store', 'operations', 'cli', 'launcher', 'gen', 'proto'],
  ...['services/ingest', 'services/writer', 'services/dashboard-api'],
  ...['docs', 'deploy/systemd', 'deploy/prometheus', 'deploy/grafana', 'examples/events.ndjson'],
  ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'LICENSE'],
];

/** Tests, and what only a checkout needs: it installs its packages and builds its pages. */
const excluded = /\.test\.ts$|^launcher\/(?:run\.mjs|bootstrap\/(?:install|install-lock|freshness)\.mjs)$/;

/** A relative import, the path of a script or the name of a module, at its end. */
const sourceExtension = /(?<=\w)\.ts(?=['"`])/g;

/**
 * Writes the npm package `weir` to a folder: the sources without their types, because Node does not remove
 * types from packages, with the built pages, and the versions of package-lock.json. Lines and columns stay as
 * in the sources.
 *
 * @param pages the directory with the built pages.
 */
export async function writeWeirPackage(root: string, folder: string, pages: string): Promise<void> {
  const listed = await runProgram('git', ['ls-files', '-z', ...folders], { cwd: root, timeoutMs: 30_000 });
  const files = listed.split('\0').filter((file) => file !== '' && !excluded.test(file));
  for (const file of files) {
    const target = join(folder, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    const isSource = extname(file) === '.ts';
    if (!isSource && extname(file) !== '.mjs') cpSync(join(root, file), target);
    else writeFileSync(target, compile(readFileSync(join(root, file), 'utf8'), isSource));
  }
  chmodSync(join(folder, 'cli/weir.mjs'), 0o755);
  cpSync(pages, join(folder, 'web'), { recursive: true });
  writeManifests(root, folder);
}

function compile(source: string, hasTypes: boolean): string {
  const code = hasTypes ? stripTypeScriptTypes(source) : source;
  return code.replace(sourceExtension, '.js');
}

/** npm-shrinkwrap.json is the lock file that npm also respects in an installed package. */
function writeManifests(root: string, folder: string): void {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const write = (file: string, value: object) =>
    writeFileSync(join(folder, file), `${JSON.stringify(value, undefined, 2)}\n`);
  const omitted = ['private', 'workspaces', 'scripts', 'devDependencies', 'allowScripts'];
  const without = (manifest: object) =>
    Object.fromEntries(Object.entries(manifest).filter(([key]) => !omitted.includes(key)));
  write('package.json', without(read('package.json')));
  const lock = read('package-lock.json');
  const packages = Object.entries<{ dev?: boolean; link?: boolean }>(lock.packages)
    .filter(([path, { dev, link }]) => !dev && !link && /^(?:$|node_modules\/)/.test(path))
    .map(([path, one]) => [path, path === '' ? without(one) : one]);
  write('npm-shrinkwrap.json', { ...lock, packages: Object.fromEntries(packages) });
}
