/**
 * Starts every npm script: `node scripts/run.mjs <script.ts | program of a dependency> …`. It runs on Node 20 and newer,
 * installs what is missing, and hands over to the Node 26 that the dependencies bring. So a machine needs nothing but
 * Node and npm. Plain JavaScript without dependencies: nothing is installed yet when it runs.
 */
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, InstallError } from './bootstrap/install.mjs';

/** The first Node whose type stripping and built-ins we rely on. */
const nodeMajorMin = 26;

const root = fileURLToPath(new URL('..', import.meta.url));
const [name, ...args] = process.argv.slice(2);

try {
  if (name === undefined) throw new Error('usage: node scripts/run.mjs <script.ts | program> [arguments]');
  const node = await ensureInstalled(root, process.env);
  const script = resolveScript(name);
  if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) {
    process.argv = [process.execPath, script, ...args];
    await import(pathToFileURL(script).href);
  } else {
    await handOver(node, [script, ...args]);
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
  if (!existsSync(program)) throw new Error(`there is neither a script nor a program ${name}`);
  return realpathSync(program);
}

/**
 * Runs the script in another Node and ends as it ended.
 *
 * @param {string} node
 * @param {string[]} nodeArgs
 */
function handOver(node, nodeArgs) {
  return new Promise((resolveRun, reject) => {
    const child = spawn(node, nodeArgs, { stdio: 'inherit' });
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
      process.on(signal, () => {
        // A terminal sends Ctrl-C to the child as well; twice would mean "at once".
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
