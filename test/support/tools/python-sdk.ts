import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, globSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
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
export function installPythonSdk(): Promise<string> {
  return installPackages('python-sdk', 'python3', '--no-deps -r requirements.txt');
}

/** Only pytest: the clients may not support this interpreter. Throws as `installPythonSdk`. */
export function installPytest(python: string): Promise<string> {
  return installPackages('python-pytest', python, '-c requirements.txt pytest');
}

/** The interpreter for a version such as 3.10, in the PATH or by pyenv; undefined without one. */
export function findPython(version: string): string | undefined {
  const installed = globSync(
    join(env.PYENV_ROOT ?? join(homedir(), '.pyenv'), `versions/${version}.*/bin/python3`),
  );
  const check = `import ensurepip, sys, venv; sys.exit("%d.%d" % sys.version_info[:2] != "${version}")`;
  return [`python${version}`, ...installed].find((python) => spawnSync(python, ['-c', check]).status === 0);
}

async function installPackages(name: string, python: string, packages: string): Promise<string> {
  const hash = createHash('sha256')
    .update(python === 'python3' ? readVersions(['python3']) : python)
    .update(readFileSync(requirements));
  const directory = await buildOnce({
    name,
    hash: hash.digest('hex').slice(0, 16),
    folder: '.',
    write: (target) => cpSync(requirements, join(target, 'requirements.txt')),
    commands: [
      `'${python}' -m venv .venv`,
      `.venv/bin/pip install --quiet --disable-pip-version-check ${packages}`,
    ],
  });
  return join(directory, '.venv/bin/python');
}
