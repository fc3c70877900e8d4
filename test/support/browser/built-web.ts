import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { cacheDirectory } from '../../../launcher/provision/cache-directory.ts';
import { buildWeb } from '../../../launcher/provision/web/web-build.ts';

/** The built pages. They are built once for all test runs with the same sources. */
export async function builtWeb(): Promise<string> {
  return (await buildWeb({ cacheDir: cacheDirectory(env, join(tmpdir(), 'weir')) })).directory;
}
