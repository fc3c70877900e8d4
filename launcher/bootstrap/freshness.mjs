import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ version?: string, integrity?: string, link?: boolean, dependencies?: Record<string, string>,
 *   devDependencies?: Record<string, string> }} LockedPackage */

/**
 * Compares package-lock.json with the versions that npm recorded in node_modules, not file times, which a
 * clone changes. Each installed package, and those that a package.json names, must be as locked.
 * @param {string} root the checkout
 * @param {{ packages: boolean }} options `packages`: the workspaces' own dependencies are needed, too
 * @returns {string | undefined} the first missing or different package
 */
export function findStalePackage(root, { packages }) {
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  const wanted = readPackages(join(root, 'package-lock.json'));
  if (installed === undefined || wanted === undefined) return 'node_modules';
  const isSame = (/** @type {string} */ path) =>
    installed[path]?.version === wanted[path]?.version &&
    installed[path]?.integrity === wanted[path]?.integrity;
  const stale = Object.keys(installed).find((path) => !installed[path]?.link && !isSame(path));
  if (stale !== undefined) return stale;
  const manifests = Object.keys(wanted).filter(
    (path) => path === '' || (packages && !path.includes('node_modules/')),
  );
  return manifests.flatMap((path) => namedBy(path, wanted)).find((path) => installed[path] === undefined);
}

/**
 * @param {string} manifest path of a package.json in the lock file
 * @param {Record<string, LockedPackage>} wanted
 * @returns {string[]} paths of the packages that it names and that every platform has
 */
function namedBy(manifest, wanted) {
  const { dependencies, devDependencies } = wanted[manifest] ?? {};
  return Object.keys({ ...dependencies, ...devDependencies }).map((name) => {
    const own = `${manifest}/node_modules/${name}`;
    return own in wanted ? own : `node_modules/${name}`;
  });
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
