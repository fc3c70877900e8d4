import { inspect } from 'node:util';
import type { ServiceName } from '../platform/config/services.ts';
import { limitToSystem, type ProcessCounts } from './supervise/process-counts.ts';
import { processes, withVariable } from './supervise/services.ts';
import { portOf, superviseServices } from './supervise/supervised-services.ts';
import { listenForStopSignals } from './terminal/stop-signals.ts';

/**
 * Runs several processes of a service until a signal, for containers and systemd. One that exits is
 * restarted. They share this process's output, and for ingest one port. @throws Error when one does not
 * start.
 */
export async function runServiceGroup(
  host: NodeJS.Process,
  name: ServiceName,
  wanted: ProcessCounts,
): Promise<void> {
  // A second signal ends this process at once, and the closed channel to it the services.
  const { signal, requested } = listenForStopSignals(host, () => host.exit(130));
  const report = (line: string) => void host.stderr.write(`${line}\n`);
  host.on('unhandledRejection', (reason) => report(`a task failed: ${inspect(reason)}`));
  const counts = await limitToSystem(wanted, report);
  await using resources = new AsyncDisposableStack();
  const supervision = { report, resources, loops: new Map(), signal };
  const portVariable = name === 'ingest' ? 'INGEST_PORT' : undefined;
  const [first, ...others] = processes(
    { name, env: host.env, ...(portVariable && { portVariable }) },
    counts,
  );
  try {
    // Alone: a mistake of the configuration is reported once, and INGEST_PORT=0 chooses one port for all.
    const [ready] = await superviseServices(supervision, first ? [first] : []);
    const { url } = ready ?? {};
    await superviseServices(
      supervision,
      others.map((one) => (portVariable && url ? withVariable(one, portVariable, portOf(url)) : one)),
    );
    await requested;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
