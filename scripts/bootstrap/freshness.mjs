import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, link?: boolean }} LockedPackage */

/**
 * Compares what package-lock.json wants with what npm noted in node_modules. Times of files say nothing after a clone or
 * a copy; the noted versions do.
 *
 * @param {string} root the checkout
 * @returns {string | undefined} what is missing or differs; undefined when everything is as the lock file wants it
 */
export function findStalePackage(root) {
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (installed === undefined) return 'node_modules';
  const wanted = readPackages(join(root, 'package-lock.json'));
  for (const [path, pkg] of Object.entries(wanted ?? {})) {
    if (path === '' || pkg.link) continue;
    const found = installed[path];
    // npm leaves out the optional packages of other platforms.
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
