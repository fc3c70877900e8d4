import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the package. */
export const packageRoot = fileURLToPath(new URL('../..', import.meta.url));

/** The output folder of the build. */
export const dist = join(packageRoot, 'dist');

/** The folder where the versions and runtimes are installed. */
export const versions = join(packageRoot, 'test', 'versions');

export const requireVersion = createRequire(join(versions, 'package.json'));

/** A command of an installed package. */
export function commandOf(name: string): string {
  return join(versions, 'node_modules', '.bin', name);
}
