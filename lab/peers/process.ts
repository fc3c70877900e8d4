import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programEnvironment } from '../../harness/tools/build-cache.ts';
import { lastLogLines } from '../../launcher/process/log-file.ts';
import { spawnServer } from '../../launcher/process/server-process.ts';

/**
 * Phoenix and MLflow create their tables at the first start, which takes most of a minute on a busy machine.
 */
const readyMsMax = 240_000;

/** Uvicorn and Fastify finish the requests in progress at the first signal. */
const stopSignals = [{ signal: 'SIGTERM', waitMs: 20_000 }] as const;

interface PeerProcess {
  name: string;
  command: readonly [string, ...string[]];
  env: Record<string, string>;
  /** For the log, and as the working directory. */
  directory: string;
  /** Ready when it answers here, with any status. Without it, it is ready at once. */
  readyUrl?: string;
}

/** Starts a process of a peer, and resolves when it is ready. @throws Error with its last output. */
export async function startPeerProcess({ name, command, env, directory, readyUrl }: PeerProcess) {
  const logFile = join(directory, `${name}.log`);
  const child = await spawnServer(command, {
    logFile,
    stopSignals,
    spawn: { cwd: directory, env: { ...programEnvironment, ...env } },
  });
  let hasExited = false;
  void child.exited.then(() => {
    hasExited = true;
  });
  const endMs = performance.now() + readyMsMax;
  while (readyUrl !== undefined && !(await answers(readyUrl))) {
    if (hasExited || performance.now() > endMs) {
      await child.stop();
      throw new Error(`${name} did not start:\n${lastLogLines(logFile, 0)}`);
    }
    await sleep(100);
  }
  return { [Symbol.asyncDispose]: () => child.stop() };
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    async (response) => {
      await response.body?.cancel();
      return true;
    },
    () => false,
  );
}
