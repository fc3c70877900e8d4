import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const version = readVersion();

function readVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}

const pages = fileURLToPath(new URL('../web', import.meta.url));

/** The built pages of the npm package and the image. A checkout builds its own. */
export const builtPages = existsSync(pages) ? pages : undefined;
