import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env, stdout } from 'node:process';
import { cacheDirectory } from '../../launcher/provision/cache-directory.ts';
import { buildWeb } from '../../launcher/provision/web/web-build.ts';

/** Prints the directory with the built pages of the dashboard, for the image. */
const { directory } = await buildWeb({
  cacheDir: cacheDirectory(env, mkdtempSync(join(tmpdir(), 'weir-pages-'))),
});
stdout.write(directory);
