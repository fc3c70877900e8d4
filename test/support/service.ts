import { pid } from 'node:process';
import { PortTakenError } from '../../launcher/process/server-process.ts';
import { startOnFreePorts } from '../../launcher/provision/ports.ts';
import { urlOfRole } from '../../launcher/provision/postgres/roles.ts';
import type { ReadyMessage } from '../../launcher/supervise/service-process.ts';
import { ConfigError } from '../../platform/config/config-error.ts';
import { requiredOf, type ServiceName } from '../../platform/config/services.ts';
import { parseConfig } from '../../platform/config.ts';
import { openLog } from '../../platform/log.ts';
import { openService as open, type StartService } from '../../platform/service.ts';
import { startDashboard } from '../../services/dashboard-api/dashboard-api.ts';
import { startIngest } from '../../services/ingest/ingest.ts';
import { startWriter } from '../../services/writer/writer.ts';
import { schemaVersion } from '../../store/db/version.ts';

/** One of our services, in the test's process or in its own (service-process.ts). Disposing stops it. */
export interface TestService extends AsyncDisposable {
  /** Its addresses. */
  readonly ready: ReadyMessage;
  /** Everything it has logged so far. */
  log(): string;
  isRunning(): boolean;
  /** Drains and stops it, as the signal does. @returns the exit code of a process. */
  stop(signal: 'SIGTERM'): Promise<number | string | null>;
}

/** How often a service is started while nats-server is slow to answer. */
const startsMax = 10;

const starts: Record<ServiceName, StartService> = {
  ingest: startIngest,
  writer: startWriter,
  'dashboard-api': startDashboard,
};

/**
 * The configuration of a service in tests: DATABASE_URL, which is the superuser's, becomes that of the
 * service's role. The Postgres of the tests runs without fsync, and a test that restarts a service on its
 * port needs one that no other takes.
 */
export const variablesOf = (name: ServiceName, variables: Record<string, string>) => ({
  LOG_LEVEL: 'debug',
  DATABASE_ALLOW_UNSYNCED: 'true',
  METRICS_PORT: '0',
  ...variables,
  ...(variables.DATABASE_URL && { DATABASE_URL: urlOfRole(variables.DATABASE_URL, name) }),
});

/**
 * Starts a service in the test's process, with its own Postgres role. What is about a process (signals,
 * memory, a kill) needs `startService` of service-process.ts.
 */
export async function openService(
  name: ServiceName,
  variables: Record<string, string>,
): Promise<TestService> {
  const config = parseConfig(variablesOf(name, variables), requiredOf[name]);
  const lines: string[] = [];
  const log = openLog(name, config, { write: (line) => void lines.push(line) });
  const { signal } = new AbortController();
  const identity = { name, schema: schemaVersion };
  const start = () => open(starts[name], identity, { config, log, pid, signal });
  const service = await retryTimeouts(start, startsMax);
  let stopped: Promise<void> | undefined;
  const stop = (delayMs: number) => {
    stopped ??= service.drain(delayMs).then(() => service[Symbol.asyncDispose]());
    return stopped;
  };
  return {
    ready: service.details,
    log: () => lines.join(''),
    isRunning: () => stopped === undefined,
    stop: () => stop(config.DRAIN_DELAY_MS).then(() => 0),
    [Symbol.asyncDispose]: () => stop(0),
  };
}

/**
 * Starts a service whose address is known before, and again on another port when another process has taken
 * it.
 */
export function startOnFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  return startOnFreePorts(1, ([port = 0]) =>
    start(port).catch((error: unknown) => {
      const isTaken = error instanceof Error && error.message.includes('the port is in use');
      throw isTaken ? new PortTakenError(error.message) : error;
    }),
  );
}

/**
 * The process also loads modules and runs other tests: then the time-out of the first connection to
 * nats-server is too short.
 */
async function retryTimeouts<T>(start: () => Promise<T>, attempts: number): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (attempts === 1 || !(error instanceof ConfigError && error.message.includes('TimeoutError')))
      throw error;
    return retryTimeouts(start, attempts - 1);
  }
}
