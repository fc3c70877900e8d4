import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { findStalePackage } from './freshness.mjs';
import { acquireInstallLock } from './install-lock.mjs';
import { isNodeNewEnough, nodePackage } from './own-node.mjs';

/** @typedef {Record<string, string | undefined>} Environment */

/** npm prints nothing while it installs, unless it has a terminal of its own. */
const progressMs = 10_000;

export class InstallError extends Error {
  /** @override */
  name = 'InstallError';
}

/**
 * An optional dependency for each platform: npm installs the fitting one without a script.
 * @param {string} root
 */
const nodeOf = (root) => join(root, 'node_modules', nodePackage, 'bin', 'node');

/**
 * Finds the Node that runs a command, and installs nothing. Development packages may be missing.
 * @param {string} root the checkout
 * @returns {string} the path of a Node that is new enough
 * @throws {InstallError} when the packages, or such a Node, are missing
 */
export function requireInstalled(root) {
  if (!existsSync(join(root, 'node_modules', 'commander')))
    throw new InstallError('The dependencies are not installed: run `npm start` once, or `npm ci`.');
  if (isNodeNewEnough) return process.execPath;
  if (existsSync(nodeOf(root))) return nodeOf(root);
  throw new InstallError('Weir runs on Node 26: install it, or run `npm start` once, which brings its own.');
}

/**
 * Installs the dependencies when they are missing or do not match package-lock.json. Concurrent starts
 * install once.
 * @param {string} root the checkout
 * @param {Environment} env
 * @param {{ packages: boolean }} options `packages`: also what only the workspaces need
 * @returns {Promise<string>} the path of the Node among the dependencies
 */
export async function ensureInstalled(root, env, options) {
  const node = nodeOf(root);
  const isReady = () => existsSync(node) && findStalePackage(root, options) === undefined;
  if (isReady()) return node;
  const release = await acquireInstallLock(join(root, '.weir-install'));
  try {
    if (!isReady()) await install(root, node, withoutNodeModules(root, env), options);
  } finally {
    release();
  }
  return node;
}

/**
 * @param {string} root
 * @param {string} node
 * @param {Environment} env
 * @param {{ packages: boolean }} options
 */
async function install(root, node, env, options) {
  if (findStalePackage(root, options) !== undefined) {
    process.stderr.write('weir: installing the dependencies (once; 1 GB, a minute or two) …\n');
    // The build of the pages needs development dependencies, also with NODE_ENV=production.
    const all = ['--include=dev', '--include=optional', ...(options.packages ? [] : ['--workspaces=false'])];
    const startedAt = performance.now();
    const progress = setInterval(() => {
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      process.stderr.write(`weir: … still installing after ${seconds} s\n`);
    }, progressMs);
    await run(['npm', 'ci', ...all, '--no-audit', '--no-fund'], root, env).finally(() =>
      clearInterval(progress),
    );
  }
  if (!existsSync(node)) {
    throw new InstallError(
      `npm did not install Node 26 (${relative(root, node)}), which Weir runs on. Let npm install optional packages, and start again.`,
    );
  }
}

/**
 * Removes our node_modules from the PATH: npm must not run on the Node that it is about to replace.
 * @param {string} root
 * @param {Environment} env
 * @returns {Environment}
 */
function withoutNodeModules(root, env) {
  const directories = (env.PATH ?? '')
    .split(delimiter)
    .filter((path) => !path.startsWith(join(root, 'node_modules')));
  return { ...env, PATH: directories.join(delimiter) };
}

/**
 * @param {[string, ...string[]]} command
 * @param {string} cwd
 * @param {Environment} env
 * @returns {Promise<string>} what it printed
 */
function run(command, cwd, env) {
  const [file, ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.once('error', (error) =>
      reject(new InstallError(`${file} cannot be executed (${error.message}). Install Node ≥ 20 with npm.`)),
    );
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new InstallError(`\`${command.join(' ')}\` failed:\n${errorLines(output)}`));
    });
  });
}

/**
 * The lines of npm's output that give the reason, without its warnings and its usage text.
 * @param {string} output
 */
function errorLines(output) {
  const [reason = ''] = output.split(/^npm error (?:Clean install a project|Usage:)/m);
  return reason
    .split('\n')
    .filter((line) => !line.startsWith('npm warn'))
    .slice(-30)
    .join('\n')
    .trim();
}
