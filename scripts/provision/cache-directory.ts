import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Where downloads are kept for all checkouts of this user: `$XDG_CACHE_HOME/weir` or `~/.cache/weir`. */
export function cacheDirectory(env: Record<string, string | undefined>): string {
  const base = env.XDG_CACHE_HOME;
  // The XDG specification: a relative path is to be ignored.
  return join(base && isAbsolute(base) ? base : join(homedir(), '.cache'), 'weir');
}
