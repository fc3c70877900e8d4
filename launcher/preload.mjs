import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What a checkout loads before any other module. The first is of this version, the other of 0.1.0. */
const preloads = ['store/db/preload/preload.ts', 'lib/db/fast-imports.ts'];

const ownRoot = fileURLToPath(new URL('..', import.meta.url));

/** @returns the URL of the module that a checkout, by default this one, loads before any other. */
export function preloadUrl(root = ownRoot) {
  const preload = preloads.map((path) => join(root, path)).find((path) => existsSync(path));
  if (preload === undefined) throw new Error(`${root} has none of ${preloads.join(', ')}`);
  return pathToFileURL(preload).href;
}

export const preloadOption = (root = ownRoot) => `--import=${preloadUrl(root)}`;
