import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { inject } from 'vitest';
import { until } from '../../../harness/wait.ts';
import { cacheDirectory } from '../../../launcher/provision/cache-directory.ts';
import { buildWeb } from '../../../launcher/provision/web/web-build.ts';
import { shareWork } from '../run/cpu-time.ts';

/** Longer than a build on a busy machine. */
const buildTimeoutMs = 150_000;

/**
 * The built pages. All test runs with the same sources share one build. The first test file of a run makes
 * it, and the others wait: builds at the same time would take the processor from each other.
 */
export async function builtWeb(): Promise<string> {
  const lock = join(inject('runDirectory'), 'web-build');
  const done = join(lock, 'done');
  try {
    mkdirSync(lock);
  } catch {
    await until(() => existsSync(done), buildTimeoutMs);
  }
  try {
    const cacheDir = cacheDirectory(env, join(tmpdir(), 'weir'));
    return (await shareWork(() => buildWeb({ cacheDir }))).directory;
  } finally {
    writeFileSync(done, '');
  }
}
