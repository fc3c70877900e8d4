import { createHash } from 'node:crypto';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildOnce } from '../../../harness/tools/build-cache.ts';
import { readVersions } from '../../../harness/tools/toolchain.ts';

export const pythonSdk = fileURLToPath(new URL('../../../sdk/python', import.meta.url));
const requirements = join(pythonSdk, 'tests/requirements.txt');

/** The sources, without an installation and without files beside them. */
export const pythonSdkEnvironment = {
  ...env,
  PYTHONPATH: join(pythonSdk, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
  NO_PROXY: '127.0.0.1',
};

/**
 * Installs the clients and frameworks that the tests of the Python SDK use, in the versions of its
 * `tests/requirements.txt`.
 *
 * @returns the interpreter that has them.
 * @throws PackagesUnreachableError, or Error with the output of pip.
 */
export async function installPythonSdk(): Promise<string> {
  const hash = createHash('sha256')
    .update(readVersions(['python3']))
    .update(readFileSync(requirements));
  const directory = await buildOnce({
    name: 'python-sdk',
    hash: hash.digest('hex').slice(0, 16),
    folder: '.',
    write: (target) => cpSync(requirements, join(target, 'requirements.txt')),
    commands: [
      'python3 -m venv .venv',
      '.venv/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt',
    ],
  });
  return join(directory, '.venv/bin/python');
}
