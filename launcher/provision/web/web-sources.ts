import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a build of the pages depends on: their sources, the programs that they show, the SDK's package, and the versions of all packages. */
const sources = [
  'services/dashboard-web/{src,public}/**/*.*',
  'services/dashboard-web/*.{html,ts,json}',
  'examples/clients/{curl,python-requests,node-fetch,go-http}/*.*',
  'examples/first-event/*.*',
  'sdk/typescript/{src/**/*.ts,*.json,README.md,LICENSE}',
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
