import { readFileSync } from 'node:fs';

/** The version of Weir, from its package.json. */
export const version = readVersion();

function readVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}
