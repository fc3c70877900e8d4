import { resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { version } from '../../platform/version.ts';
import { writeRelease } from './release.ts';

/**
 * `npm run release [-- DIRECTORY]`: everything that a release consists of, by default in `release/VERSION`.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const directory = resolve(process.argv[2] ?? `${root}/release/${version}`);
try {
  await writeRelease(root, directory, (line) => process.stdout.write(`${line}\n`));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
