/**
 * Runs every npm script: `node launcher/run.mjs [--packages | --installed] <script.ts | program of a
 * dependency> …`. Plain JavaScript without dependencies for Node 20 and newer: installs missing dependencies,
 * and continues on the Node 26 among them. `--packages` also installs what only the workspaces need.
 * `--installed` installs nothing: a command must not replace the packages under running services.
 */
import { existsSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, InstallError, requireInstalled } from './bootstrap/install.mjs';
import { isNodeNewEnough, runInNode } from './bootstrap/own-node.mjs';
import { preloadUrl } from './preload.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const own = process.argv.slice(2);
const option = own[0]?.startsWith('--') ? own[0] : undefined;
const [name, ...args] = option === undefined ? own : own.slice(1);

try {
  if (name === undefined) throw new Error('usage: node launcher/run.mjs <script.ts | program> [arguments]');
  const node =
    option === '--installed'
      ? requireInstalled(root)
      : await ensureInstalled(root, process.env, { packages: option === '--packages' });
  if (isNodeNewEnough) {
    const script = resolveScript(name);
    process.argv = [process.execPath, script, ...args];
    // With compiled code in a cache Node does not load its TypeScript parser: 17 MB less memory.
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
