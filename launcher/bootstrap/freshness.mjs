import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, link?: boolean }} LockedPackage */

/**
 * Compares package-lock.json with the versions that npm recorded in node_modules. File times are not compared: a clone or
 * a copy changes them.
 *
 * @param {string} root the checkout
 * @returns {string | undefined} the first missing or different package; undefined when all match the lock file
 */
export function findStalePackage(root) {
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (installed === undefined) return 'node_modules';
  const wanted = readPackages(join(root, 'package-lock.json'));
  for (const [path, pkg] of Object.entries(wanted ?? {})) {
    if (path === '' || pkg.link) continue;
    const found = installed[path];
    // npm does not install the optional packages of other platforms.
    if (found === undefined && pkg.optional) continue;
    if (found?.version !== pkg.version || found?.integrity !== pkg.integrity) return path;
  }
  return undefined;
}

/**
 * @param {string} file
 * @returns {Record<string, LockedPackage> | undefined}
 */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
