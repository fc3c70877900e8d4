import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stderr } from 'node:process';
import { fileURLToPath } from 'node:url';
import { findLockFiles, findMissingOptional, type LockedPackage, platformOf } from './lockfile.ts';

/**
 * Adds the optional packages that npm omitted from the lock files (see lockfile.ts). Run it when `npm run
 * check` says so. They are pinned by version, without a checksum, which only a registry that has the package
 * knows.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
for (const path of findLockFiles(root)) {
  const file = join(root, path);
  const lock: { packages: Record<string, LockedPackage> } = JSON.parse(readFileSync(file, 'utf8'));
  for (const { name, version, dev } of findMissingOptional(lock.packages)) {
    lock.packages[`node_modules/${name}`] = {
      version,
      ...platformOf(name),
      ...(dev && { dev }),
      optional: true,
    };
    stderr.write(`added ${name} ${version} to ${path}\n`);
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
}
