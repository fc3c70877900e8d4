import type { ServiceName } from '../../platform/config/services.ts';
import { logBytes } from '../process/log-file.ts';
import { type RestartLoop, startRestartLoop } from './restart-loop.ts';
import { lastPlainLine, type ReadyMessage, startService } from './service-process.ts';

export interface SupervisedService {
  name: ServiceName;
  /** The service's name in messages and in the record of processes: labelOf(). */
  label: string;
  env: Record<string, string | undefined>;
  portVariable?: 'INGEST_PORT' | 'DASHBOARD_PORT';
}

export interface Supervision {
  /** Absent: they write to the output of this process. */
  logFileOf?: (label: string) => string;
  onSpawn?: (label: string, pid: number) => void;
  report: (line: string) => void;
  resources: AsyncDisposableStack;
  loops: Map<string, RestartLoop>;
  signal: AbortSignal;
}

/**
 * Starts services concurrently and restarts each whenever it exits. Also stopped concurrently, so that each
 * has its full time to drain.
 * @returns the first ready message of each service, in the order of the arguments.
 * @throws the error of the first service that did not start; the others are stopped with `resources`.
 */
export async function superviseServices(
  supervision: Supervision,
  services: readonly SupervisedService[],
): Promise<ReadyMessage[]> {
  const starts = await Promise.allSettled(services.map((service) => superviseService(supervision, service)));
  const running = starts.filter((start) => start.status === 'fulfilled').map((start) => start.value);
  supervision.resources.defer(async () => {
    await Promise.all(running.map((service) => service[Symbol.asyncDispose]()));
  });
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed) throw failed.reason;
  return running.map((service) => service.ready);
}

/** Restarts the service on the port of its first start, because clients reconnect to it. */
async function superviseService(
  { logFileOf, onSpawn, report, loops, signal }: Supervision,
  { name, label, env: given, portVariable }: SupervisedService,
): Promise<{ ready: ReadyMessage } & AsyncDisposable> {
  const logFile = logFileOf?.(label);
  const env = { ...given };
  let logStart = 0;
  let ready: ReadyMessage | undefined;
  const start = async () => {
    signal.throwIfAborted();
    if (logFile !== undefined) logStart = logBytes(logFile);
    const running = await startService({
      name,
      env,
      logFile,
      onSpawn: (pid) => onSpawn?.(label, pid),
      signal,
    });
    ready ??= running.ready;
    if (portVariable && ready.url) env[portVariable] = portOf(ready.url);
    return running;
  };
  const lastOutput = () => (logFile === undefined ? '' : lastPlainLine(logFile, logStart));
  const supervised = await startRestartLoop({ name: label, start, lastOutput, report });
  loops.set(label, supervised);
  return { ready: ready ?? {}, [Symbol.asyncDispose]: () => supervised[Symbol.asyncDispose]() };
}

/** A URL omits the default port of its scheme. */
export function portOf(url: string): string {
  const { port, protocol } = new URL(url);
  return port || (protocol === 'https:' ? '443' : '80');
}
