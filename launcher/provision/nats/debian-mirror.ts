import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The Debian mirror of this machine: behind a firewall often the only reachable one.
 * @param aptDir `/etc/apt`
 * @throws Error when no mirror is configured, e.g. because the system is not Debian.
 */
export function findDebianMirror(aptDir: string): string {
  const parts = join(aptDir, 'sources.list.d');
  const files = [
    join(aptDir, 'sources.list'),
    ...(existsSync(parts) ? readdirSync(parts).map((name) => join(parts, name)) : []),
  ].filter((file) => existsSync(file) && /\.(list|sources)$/.test(file));
  for (const file of files) {
    const uris = mirrorsIn(readFileSync(file, 'utf8'), file.endsWith('.sources'));
    const mirror = uris.find((uri) => /\/debian\/?$/.test(uri));
    if (mirror !== undefined) return mirror;
  }
  throw new Error(`no Debian mirror is configured in ${aptDir}`);
}

/** The archive URIs in an apt sources file, in the one-line or the deb822 format. */
function mirrorsIn(text: string, isDeb822: boolean): string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  if (isDeb822) {
    return lines.filter((line) => /^URIs:/i.test(line)).flatMap((line) => line.slice(5).trim().split(/\s+/));
  }
  return lines
    .filter((line) => /^deb\s/.test(line))
    .map((line) => line.replace(/\[[^\]]*\]/, ' ').split(/\s+/)[1] ?? '');
}
