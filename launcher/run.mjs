/**
 * Runs every npm script: `node launcher/run.mjs [--packages] <script.ts | program of a dependency> …`. It works on Node 20
 * and newer, installs missing dependencies, and continues on the Node 26 among them: a machine needs only Node and npm.
 * `--packages` also installs what only the other packages of the repository need. This file is plain JavaScript without
 * dependencies, because it runs before they are installed.
 */
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, InstallError } from './bootstrap/install.mjs';
import { preloadUrl } from './preload.mjs';

/** The first Node version with the type stripping and the built-in modules that we use. */
const nodeMajorMin = 26;

const root = fileURLToPath(new URL('..', import.meta.url));

const own = process.argv.slice(2);
const packages = own[0] === '--packages';
const [name, ...args] = packages ? own.slice(1) : own;

try {
  if (name === undefined) throw new Error('usage: node launcher/run.mjs <script.ts | program> [arguments]');
  const node = await ensureInstalled(root, process.env, { packages });
  if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) {
    const script = resolveScript(name);
    process.argv = [process.execPath, script, ...args];
    // With compiled code in a cache Node does not load its TypeScript parser, which takes 17 MB of the supervisor's memory.
    module.enableCompileCache(join(root, 'node_modules', '.cache', 'weir-compiled'));
    await import(preloadUrl());
    await import(pathToFileURL(script).href);
  } else {
    await runInNode(node, [...process.execArgv, fileURLToPath(import.meta.url), ...own]);
  }
} catch (error) {
  const shown = error instanceof InstallError ? error.message : error instanceof Error ? error.stack : error;
  process.stderr.write(`weir: ${shown}\n`);
  process.exitCode = 1;
}

/**
 * @param {string} name
 * @returns {string} the file to run
 */
function resolveScript(name) {
  const file = resolve(root, name);
  if (/\.(ts|mjs|js)$/.test(name) && existsSync(file)) return file;
  const program = join(root, 'node_modules', '.bin', name);
  if (!existsSync(program)) throw new Error(`no script and no installed program is called ${name}`);
  return realpathSync(program);
}

/**
 * Runs another Node, forwards signals to it, and exits with its exit code.
 *
 * @param {string} node
 * @param {string[]} nodeArgs
 */
function runInNode(node, nodeArgs) {
  return new Promise((resolveRun, reject) => {
    const child = spawn(node, nodeArgs, { stdio: 'inherit' });
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
      process.on(signal, () => {
        // A terminal sends Ctrl-C to the child too; a second SIGINT would force an immediate stop.
        if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
      });
    }
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      resolveRun(undefined);
    });
  });
}
