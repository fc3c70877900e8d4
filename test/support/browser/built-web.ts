import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { cacheDirectory } from '../../../launcher/provision/cache-directory.ts';
import { buildWeb } from '../../../launcher/provision/web/web-build.ts';

/** The built pages. All test runs with the same sources share one build. */
export async function builtWeb(): Promise<string> {
  return (await buildWeb({ cacheDir: cacheDirectory(env, join(tmpdir(), 'weir')) })).directory;
}
