import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * The downloads of all checkouts of this user: `$XDG_CACHE_HOME/weir` or `~/.cache/weir`.
 * @param fallback used when that is not writable, e.g. for a system user without a home.
 */
export function cacheDirectory(env: Record<string, string | undefined>, fallback: string): string {
  const base = env.XDG_CACHE_HOME;
  // The XDG specification says to ignore a relative path.
  const directory = join(base && isAbsolute(base) ? base : join(homedir(), '.cache'), 'weir');
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
    return directory;
  } catch {
    return fallback;
  }
}
