import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stderr } from 'node:process';
import { fileURLToPath } from 'node:url';
import { findLockFiles, findMissingOptional, type LockedPackage, platformOf } from './check/lockfile.ts';

/**
 * Adds to the lock files the optional packages that npm left out of them (check/lockfile.ts): run it when `npm run check`
 * asks for it. They are pinned by version; their checksum is known only to a registry that has them.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
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
