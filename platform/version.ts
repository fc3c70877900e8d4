import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The version of Weir, from its package.json. */
export const version = readVersion();

function readVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}

const pages = fileURLToPath(new URL('../web', import.meta.url));

/** The directory with the built pages of the npm package and the image. A checkout builds its own. */
export const builtPages = existsSync(pages) ? pages : undefined;
