import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describeExit, exitOf } from '../../process/child-process.ts';
import { precompress } from './precompress.ts';
import { packSdk } from './sdk-package.ts';
import { hashWebSources } from './web-sources.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Builds that were unused for this time are removed. Other checkouts may still serve younger ones. */
const keepMs = 14 * 24 * 60 * 60 * 1_000;
const prefix = 'dashboard-web-';

/**
 * Builds the dashboard's pages, unless the cache has a build of the same sources and packages. Concurrent builds are
 * safe: a build is renamed into its place when it is complete.
 *
 * @returns the directory with the files to serve.
 * @throws Error with Vite's output when the build fails.
 */
export async function buildWeb({
  cacheDir,
  signal,
}: {
  cacheDir: string;
  signal?: AbortSignal | undefined;
}): Promise<{ directory: string; wasBuilt: boolean }> {
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
