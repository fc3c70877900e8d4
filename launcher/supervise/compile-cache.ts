import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import process from 'node:process';
import { serviceNames } from '../../platform/config/services.ts';
import { preloadOption } from '../preload.mjs';
import { nodeOptionsOf, scriptOf } from './service-process.ts';

/**
 * Keeps the compiled code of this process, and runs its script again in the same process, if a cache is
 * possible and did not have it. Call before the script has done anything.
 * @returns the directory of the cache in the second run, on the first start of a version.
 */
export function restartCompiled(): string | undefined {
  const { execPath, execArgv, env } = process;
  const [, script = '', ...args] = process.argv;
  const directory = getCompileCacheDir();
  if (execArgv.includes(preloadOption())) return env.NODE_COMPILE_CACHE;
  if (!isParserLoaded() || directory === undefined) return undefined;
  flushCompileCache();
  // The directory's last part is this version of Node. Windows lacks `execve`.
  const variables = { ...env, NODE_COMPILE_CACHE: dirname(directory) };
  process.execve?.(execPath, [execPath, ...execArgv, preloadOption(), script, ...args], variables);
  return undefined;
}

function isParserLoaded(): boolean {
  // Node does not document this list, and its types lack it.
  const { moduleLoadList } = process as { moduleLoadList?: readonly string[] };
  return moduleLoadList?.some((name) => name.includes('amaro')) ?? false;
}

/**
 * Compiles the services' code by a start of each without a configuration, which exits after loading. V8
 * rejects code compiled with other Node options than the service's.
 * @param directory undefined: nothing is compiled. @throws AbortError when `signal` is aborted.
 */
export async function compileServices(directory: string | undefined, signal?: AbortSignal): Promise<void> {
  if (directory === undefined) return;
  for (const name of serviceNames) {
    const child = spawn(process.execPath, [...nodeOptionsOf(name), scriptOf(name)], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: directory },
      stdio: 'ignore',
      killSignal: 'SIGKILL',
      ...(signal && { signal }),
    });
    await once(child, 'exit');
  }
}
