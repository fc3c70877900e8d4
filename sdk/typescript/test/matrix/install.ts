import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot, versions } from './places.ts';

/** Installs the versions and runtimes, if they are not there as the lock file says, and builds the package. */
export default function install(): void {
  const installed = join(versions, 'node_modules', '.package-lock.json');
  const lock = join(versions, 'package-lock.json');
  const isFresh = existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
  if (!isFresh) execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: versions, stdio: 'inherit' });
  execFileSync('npm', ['run', 'build'], { cwd: packageRoot, stdio: 'inherit' });
}
