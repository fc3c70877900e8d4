import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import { builtPages } from '../../../platform/version.ts';
import { describeExit, exitOf } from '../../process/child-process.ts';
import { packPythonSdk } from './python-package.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Builds that were unused for this time are removed. Other checkouts may still serve younger ones. */
const keepMs = 14 * 24 * 60 * 60 * 1_000;
const prefix = 'dashboard-web-';

/**
 * Builds the dashboard's pages, unless this is the npm package, which has them, or the cache has a build of
 * the same sources. Safe for concurrent builds: a complete one is renamed into its place.
 * @returns the directory with the files to serve. @throws Error with Vite's output when the build fails.
 */
export async function buildWeb({
  cacheDir,
  signal,
}: {
  cacheDir: string;
  signal?: AbortSignal | undefined;
}): Promise<{ directory: string; wasBuilt: boolean }> {
  if (builtPages !== undefined) return { directory: builtPages, wasBuilt: false };
  const directory = join(cacheDir, `${prefix}${hashWebSources(root)}`);
  const wasBuilt = !existsSync(directory);
  if (wasBuilt) await buildInto(directory, signal);
  const now = new Date();
  utimesSync(directory, now, now);
  removeOld(cacheDir);
  return { directory, wasBuilt };
}

async function buildInto(directory: string, signal: AbortSignal | undefined): Promise<void> {
  mkdirSync(dirname(directory), { recursive: true });
  const draft = mkdtempSync(`${directory}-draft-`);
  try {
    await runVite(draft, signal);
    await packSdk(draft);
    packPythonSdk(draft);
    await precompress(draft);
    renameSync(draft, directory);
  } catch (error) {
    // A concurrent build of the same sources was faster: its files are the same.
    if (!existsSync(directory)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function runVite(outDir: string, signal: AbortSignal | undefined): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin', 'vite.js');
  const args = [vite, 'build', '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'];
  const child = spawn(execPath, args, {
    cwd: join(root, 'services', 'dashboard-web'),
    // Another value would make it a build for development.
    env: { ...env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal && { signal }),
  });
  const [exit, output, errors] = await Promise.all([exitOf(child), text(child.stdout), text(child.stderr)]);
  signal?.throwIfAborted();
  if (exit.code !== 0) {
    throw new Error(
      `The dashboard's pages cannot be built (${describeExit(exit)}).\n${`${output}${errors}`.trim()}`,
    );
  }
}

function removeOld(cacheDir: string): void {
  const names = readdirSync(cacheDir).filter((name) => name.startsWith(prefix));
  for (const path of names.map((name) => join(cacheDir, name))) {
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > keepMs) rmSync(path, { recursive: true, force: true });
  }
}

/** The inputs of a build of the pages, which show the example programs and serve the SDK. */
const sources = [
  'services/dashboard-web/{src,public}/**/*.*',
  'services/dashboard-web/*.{html,ts,json}',
  'examples/clients/{curl,python-requests,node-fetch,go-http}/*.*',
  'examples/first-event/*.*',
  'sdk/typescript/{src/**/*.ts,*.json,README.md,LICENSE}',
  'sdk/python/{src/**/*.*,pyproject.toml,LICENSE}',
  'package-lock.json',
];

function hashWebSources(root: string): string {
  const hash = createHash('sha256');
  const files = globSync(sources, { cwd: root, exclude: (name) => /node_modules|\.test\.ts$/.test(name) });
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex').slice(0, 16);
}

const compressible = ['.js', '.css', '.svg', '.html'];

/** Smaller files are not compressed: it would save nothing. */
const bytesMin = 512;

/** Writes a `.br` and a `.gz` file next to each text file, at the highest compression level. */
async function precompress(directory: string): Promise<void> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && compressible.includes(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name));
  await Promise.all(files.map(compressFile));
}

async function compressFile(file: string): Promise<void> {
  const text = await readFile(file);
  if (text.length < bytesMin) return;
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(text, {
      params: { [zlib.BROTLI_PARAM_SIZE_HINT]: text.length, [zlib.BROTLI_PARAM_MODE]: zlib.BROTLI_MODE_TEXT },
    }),
    promisify(gzip)(text, { level: zlib.Z_BEST_COMPRESSION }),
  ]);
  writeFileSync(`${file}.br`, br);
  writeFileSync(`${file}.gz`, gz);
}

const sdk = fileURLToPath(new URL('../../../sdk/typescript', import.meta.url));
const run = promisify(execFile);

const fileName = 'weir-sdk.tgz';

/**
 * Writes the TypeScript SDK as a package for `npm install <dashboard>/weir-sdk.tgz`.
 * @throws Error with the compiler's output.
 */
async function packSdk(directory: string): Promise<void> {
  const draft = mkdtempSync(`${directory}-sdk-`);
  try {
    const folder = join(draft, 'package');
    mkdirSync(folder);
    const tsc = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin',
      'tsc',
    );
    await run(execPath, [tsc, '-p', join(sdk, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')]);
    // Its scripts build the package from the sources, which are not in it.
    const { scripts: _, ...manifest } = JSON.parse(readFileSync(join(sdk, 'package.json'), 'utf8'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, undefined, 2));
    for (const name of ['README.md', 'LICENSE']) copyFileSync(join(sdk, name), join(folder, name));
    await run('tar', ['-czf', join(directory, fileName), '-C', draft, 'package']);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
