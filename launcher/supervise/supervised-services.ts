import { logBytes } from '../process/log-file.ts';
import { startRestartLoop } from './restart-loop.ts';
import { lastPlainLine, type ReadyMessage, type ServiceName, startService } from './service-process.ts';
import type { StartContext } from './start-context.ts';

/** A service to start and restart. */
export interface SupervisedService {
  name: ServiceName;
  env: Record<string, string | undefined>;
  /** The variable with the service's port, if it listens. */
  portVariable?: 'INGEST_PORT' | 'DASHBOARD_PORT';
}

/**
 * Starts services concurrently and restarts each whenever it exits. They also stop concurrently, so that each has its full
 * time to drain.
 *
 * @returns the first ready message of each service, in the order of the arguments.
 * @throws the error of the first service that did not start; the others are stopped with the context's resources.
 */
export async function superviseServices(
  context: StartContext,
  services: readonly SupervisedService[],
): Promise<ReadyMessage[]> {
  const starts = await Promise.allSettled(services.map((service) => superviseService(context, service)));
  const running = starts.filter((start) => start.status === 'fulfilled').map((start) => start.value);
  context.resources.defer(async () => {
    await Promise.all(running.map((service) => service[Symbol.asyncDispose]()));
  });
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed) throw failed.reason;
  return running.map((service) => service.ready);
}

/** Restarts the service on the port of its first start, because clients reconnect to it. */
async function superviseService(
  { data, state, progress, loops, signal }: StartContext,
  { name, env: given, portVariable }: SupervisedService,
): Promise<{ ready: ReadyMessage } & AsyncDisposable> {
  const logFile = data.logFile(name);
  const env = { ...given };
  let logStart = 0;
  let ready: ReadyMessage | undefined;
  const start = async () => {
    signal.throwIfAborted();
    logStart = logBytes(logFile);
    const onSpawn = (pid: number) => state.addChild(name, pid, 'SIGTERM');
    const running = await startService({ name, env, logFile, onSpawn, signal });
    ready ??= running.ready;
    if (portVariable && ready.url) env[portVariable] = portOf(ready.url);
    return running;
  };
  const lastOutput = () => lastPlainLine(logFile, logStart);
  const supervised = await startRestartLoop({
    name,
    start,
    lastOutput,
    report: (line) => progress.note(line),
  });
  loops.set(name, supervised);
  return { ready: ready ?? {}, [Symbol.asyncDispose]: () => supervised[Symbol.asyncDispose]() };
}

/** A URL omits the default port of its scheme. */
function portOf(url: string): string {
  const { port, protocol } = new URL(url);
  return port || (protocol === 'https:' ? '443' : '80');
}
