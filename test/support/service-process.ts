import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { kill } from 'node:process';
import { inject } from 'vitest';
import { writePidFile } from '../../harness/system/pid-file.ts';
import { readLog } from '../../launcher/process/log-file.ts';
import { startService as launchService } from '../../launcher/supervise/service-process.ts';
import type { ServiceName } from '../../platform/config/services.ts';
import { inheritedEnvironment } from './run/inherited-environment.ts';
import { type TestService, variablesOf } from './service.ts';

/** One of our services as a process, started as the supervisor starts it. Disposing kills it. */
export interface ServiceProcess extends TestService {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /**
   * Sends the signal and waits for the exit.
   * @returns the exit code, or the signal that ended the process.
   */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null>;
}

/**
 * Starts a service that connects to Postgres with its own role.
 *
 * @param variables its configuration; DATABASE_URL is the superuser's.
 * @param root of another checkout, whose code it runs.
 * @throws Error with the service's last output when it exits before it is ready.
 */
export async function startService(
  name: ServiceName,
  variables: Record<string, string>,
  root?: string,
): Promise<ServiceProcess> {
  const directory = mkdtempSync(join(inject('runDirectory'), `${name}-`));
  const logFile = join(directory, `${name}.log`);
  const service = await launchService({
    name,
    root,
    env: { ...inheritedEnvironment(), ...variablesOf(name, variables) },
    logFile,
    onSpawn: (pid) => writePidFile(join(directory, 'pid'), pid),
  });
  let isRunning = true;
  const exited = service.exited.then(({ code, signal }) => {
    isRunning = false;
    return code ?? signal;
  });
  const signalService = (signal: NodeJS.Signals) => {
    if (isRunning) kill(service.pid, signal);
  };
  return {
    pid: service.pid,
    ready: service.ready,
    log: () => readLog(logFile),
    isRunning: () => isRunning,
    kill: signalService,
    stop(signal) {
      signalService(signal);
      return exited;
    },
    async [Symbol.asyncDispose]() {
      signalService('SIGKILL');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
