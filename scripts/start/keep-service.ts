import { logLength } from '../provision/embedded-process.ts';
import type { StartContext } from './context.ts';
import { keepAlive } from './keep-alive.ts';
import { lastWordsOf, type ReadyDetails, type ServiceName, startService } from './service.ts';

/**
 * Starts a service and keeps it running, on the port that it took first: clients find it there again.
 *
 * @param portVariable the variable that gives the service its port, if it listens.
 * @returns what it told when it was ready for the first time.
 */
export async function keepService(
  { data, state, progress, resources, signal }: StartContext,
  service: {
    name: ServiceName;
    env: Record<string, string | undefined>;
    portVariable?: 'INGEST_PORT' | 'DASHBOARD_PORT';
  },
): Promise<ReadyDetails> {
  const { name, portVariable } = service;
  const logFile = data.logFile(name);
  const env = { ...service.env };
  let logStart = 0;
  let first: ReadyDetails | undefined;
  const start = async () => {
    signal.throwIfAborted();
    logStart = logLength(logFile);
    const onSpawn = (pid: number) => state.addChild(name, pid, 'SIGTERM');
    const running = await startService({ name, env, logFile, onSpawn, signal });
    first ??= running.ready;
    if (portVariable && first.url) env[portVariable] = portOf(first.url);
    return running;
  };
  const lastWords = () => lastWordsOf(logFile, logStart);
  resources.use(await keepAlive({ name, start, lastWords, report: (line) => progress.note(line) }));
  return first ?? {};
}

/** A URL does not write the usual port of its scheme. */
function portOf(url: string): string {
  const { port, protocol } = new URL(url);
  return port || (protocol === 'https:' ? '443' : '80');
}
