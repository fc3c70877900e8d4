import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { packageRoot, versions } from './places.ts';

/** Installs the versions and runtimes, unless they match the lock file already, and builds the package. */
export default function install(): void {
  const installed = join(versions, 'node_modules', '.package-lock.json');
  const lock = join(versions, 'package-lock.json');
  const isFresh = existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
  // Not `npm ci`: it rejects a lock file without the packages of other platforms, which a registry mirror may
  // lack.
  if (!isFresh) {
    execFileSync('npm', ['install', '--no-save', '--ignore-scripts'], { cwd: versions, stdio: 'inherit' });
    // The only install script that is needed: it puts Bun's binary, which is installed already, where its
    // command expects it.
    execFileSync(execPath, ['install.js'], { cwd: join(versions, 'node_modules', 'bun'), stdio: 'inherit' });
  }
  execFileSync('npm', ['run', 'build'], { cwd: packageRoot, stdio: 'inherit' });
}
