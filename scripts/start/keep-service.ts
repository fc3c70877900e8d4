import { logLength } from '../provision/embedded-process.ts';
import type { StartContext } from './context.ts';
import { keepAlive } from './keep-alive.ts';
import { lastWordsOf, type ReadyDetails, type ServiceName, startService } from './service.ts';

/** A service to keep running. */
export interface ServicePlan {
  name: ServiceName;
  env: Record<string, string | undefined>;
  /** The variable that gives the service its port, if it listens. */
  portVariable?: 'INGEST_PORT' | 'DASHBOARD_PORT';
}

/**
 * Starts services side by side and keeps them running; they also stop side by side, so that all have their full time
 * to drain.
 *
 * @returns what each told when it was ready for the first time, in the order of the plans.
 * @throws what the first one that did not start said; the others are stopped with the context's resources.
 */
export async function keepServices(
  context: StartContext,
  plans: readonly ServicePlan[],
): Promise<ReadyDetails[]> {
  const starts = await Promise.allSettled(plans.map((plan) => keepService(context, plan)));
  const kept = starts.filter((start) => start.status === 'fulfilled').map((start) => start.value);
  context.resources.defer(async () => {
    await Promise.all(kept.map((service) => service[Symbol.asyncDispose]()));
  });
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed) throw failed.reason;
  return kept.map((service) => service.ready);
}

/** Keeps one service on the port that it took first: clients find it there again. */
async function keepService(
  { data, state, progress, signal }: StartContext,
  { name, env: given, portVariable }: ServicePlan,
): Promise<{ ready: ReadyDetails } & AsyncDisposable> {
  const logFile = data.logFile(name);
  const env = { ...given };
  let logStart = 0;
  let ready: ReadyDetails | undefined;
  const start = async () => {
    signal.throwIfAborted();
    logStart = logLength(logFile);
    const onSpawn = (pid: number) => state.addChild(name, pid, 'SIGTERM');
    const running = await startService({ name, env, logFile, onSpawn, signal });
    ready ??= running.ready;
    if (portVariable && ready.url) env[portVariable] = portOf(ready.url);
    return running;
  };
  const lastWords = () => lastWordsOf(logFile, logStart);
  const kept = await keepAlive({ name, start, lastWords, report: (line) => progress.note(line) });
  return { ready: ready ?? {}, [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose]() };
}

/** A URL does not write the usual port of its scheme. */
function portOf(url: string): string {
  const { port, protocol } = new URL(url);
  return port || (protocol === 'https:' ? '443' : '80');
}
