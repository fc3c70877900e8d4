import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findStalePackage } from './freshness.mjs';
import { acquireInstallLock } from './install-lock.mjs';

/** @typedef {Record<string, string | undefined>} Environment */

/** A failure that the user can fix: shown without a stack trace. */
export class InstallError extends Error {
  /** @override */
  name = 'InstallError';
}

/**
 * Installs the dependencies when they are missing or do not match package-lock.json. Concurrent starts install once.
 *
 * @param {string} root the checkout
 * @param {Environment} env
 * @param {{ packages: boolean }} options `packages`: also what only the workspaces need (the SDK's tests, the laboratory)
 * @returns {Promise<string>} the path of the Node among the dependencies
 */
export async function ensureInstalled(root, env, options) {
  const node = join(root, 'node_modules', 'node', 'bin', 'node');
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
    process.stderr.write('weir: installing the dependencies (once, up to a minute) …\n');
    // Node 26 is a development dependency: install those even with NODE_ENV=production.
    const all = ['--include=dev', '--include=optional', ...(options.packages ? [] : ['--workspaces=false'])];
    await run(['npm', 'ci', ...all, '--no-audit', '--no-fund'], root, env);
  }
  if (!existsSync(node)) {
    if (await areScriptsDisabled(root, env)) {
      throw new InstallError(
        'npm is configured to skip install scripts (ignore-scripts), and the one of the package `node` downloads Node 26, which Weir runs on. ' +
          'Allow it for one start: `npm_config_ignore_scripts=false npm start`.',
      );
    }
    // A newer npm skips the scripts that a lockfile does not allow by name. This one downloads Node, which everything needs.
    process.stderr.write('weir: fetching Node 26 …\n');
    await run(['node', 'installArchSpecificPackage.js'], join(root, 'node_modules', 'node'), env);
  }
  if (!existsSync(node)) {
    throw new InstallError(
      'npm did not install Node 26 (node_modules/node/bin/node). Allow install scripts (`npm config set ignore-scripts false`) and start again.',
    );
  }
}

/**
 * Whether the user forbids install scripts: then no script of a dependency is run by us either.
 *
 * @param {string} root
 * @param {Environment} env
 * @returns {Promise<boolean>}
 */
export async function areScriptsDisabled(root, env) {
  // Beside the value, npm may print warnings.
  return /^true$/m.test(await run(['npm', 'config', 'get', 'ignore-scripts'], root, env));
}

/**
 * Removes our node_modules from the PATH: npm must not run on the Node that it is about to replace.
 *
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
 *
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
