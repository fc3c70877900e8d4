#!/usr/bin/env node
/**
 * `weir`: `weir start` runs the whole system, `weir serve SERVICE` one service, everything else is a command
 * (`weir --help`). Plain JavaScript without dependencies: the npm package starts it on Node 20 and newer, and
 * it continues on the Node 26 of the package. A checkout runs it by `npm run weir --`, and by `npm start`,
 * which installs first.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNodeNewEnough, nodePackage, runInNode } from '../launcher/bootstrap/own-node.mjs';
import { preloadOption } from '../launcher/preload.mjs';

const [name = '', ...args] = process.argv.slice(2);
const pathOf = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));

/** What Node is started with, for what runs for months; a command is imported into this process. */
const programs = new Map([
  ['start', ['--max-semi-space-size=1', '--v8-pool-size=0', preloadOption(), pathOf('../launcher/start.ts')]],
  ['serve', [preloadOption(), pathOf('../launcher/service.ts')]],
]);

try {
  const program = programs.get(name);
  if (program !== undefined) {
    process.env.NODE_COMPILE_CACHE ??= pathOf('../node_modules/.cache/weir-compiled');
    await continueIn([...program, ...args]);
  } else if (isNodeNewEnough) await import('./main.ts');
  else await continueIn([pathOf('main.ts'), name, ...args]);
} catch (error) {
  process.stderr.write(`weir: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/**
 * Goes on as another Node, in the same process where the platform can.
 * @param {readonly string[]} nodeArgs
 */
async function continueIn(nodeArgs) {
  const node = isNodeNewEnough ? process.execPath : findNode();
  // Node 20 and Windows lack it.
  process.execve?.(node, [node, ...nodeArgs], process.env);
  await runInNode(node, nodeArgs);
}

/** @returns {string} the Node of the package for this platform, an optional dependency */
function findNode() {
  try {
    return join(
      dirname(createRequire(import.meta.url).resolve(`${nodePackage}/package.json`)),
      'bin',
      'node',
    );
  } catch {
    throw new Error(
      `Weir runs on Node 26, and the package that brings it (${nodePackage}) is not installed: install Node 26, or let npm install optional packages.`,
    );
  }
}
