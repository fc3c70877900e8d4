import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The inputs of a build of the pages: their sources, the example programs that they show, the SDK, and the locked versions. */
const sources = [
  'services/dashboard-web/{src,public}/**/*.*',
  'services/dashboard-web/*.{html,ts,json}',
  'examples/clients/{curl,python-requests,node-fetch,go-http}/*.*',
  'examples/first-event/*.*',
  'sdk/typescript/{src/**/*.ts,*.json,README.md,LICENSE}',
  'package-lock.json',
];

/** The hash of all inputs of a build. A new hash makes a new build necessary. */
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
