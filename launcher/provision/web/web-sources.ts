import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a build of the pages depends on: their sources, the clients that they show, and the versions of all packages. */
const sources = [
  'services/dashboard-web/{src,public}/**/*.*',
  'services/dashboard-web/*.{html,ts,json}',
  'examples/clients/{curl,python-requests,node-connect,go-http}/*.*',
  'package-lock.json',
];

/** The hash of everything that a build depends on: it changes when a new build is necessary. */
export function hashWebSources(root: string): string {
  const hash = createHash('sha256');
  const files = globSync(sources, { cwd: root, exclude: (name) => /node_modules|\.test\.ts$/.test(name) });
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex').slice(0, 16);
}
