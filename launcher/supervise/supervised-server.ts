import { lastLogLines, logBytes } from '../process/log-file.ts';
import type { ServerProcess, StartHooks } from '../process/server-process.ts';
import { startOnFreePorts } from '../provision/ports.ts';
import { startRestartLoop } from './restart-loop.ts';
import type { StartContext } from './start-context.ts';

export interface SupervisedServer<T extends ServerProcess> {
  name: 'postgres' | 'nats-server';
  portCount: number;
  stopSignal: NodeJS.Signals;
  start: (ports: readonly number[], hooks: Required<StartHooks>) => Promise<T>;
}

/** Starts an embedded server and restarts it on the same ports, to which clients reconnect. */
export async function superviseServer<T extends ServerProcess>(
  { data, state, progress, resources, loops, signal }: StartContext,
  server: SupervisedServer<T>,
): Promise<T> {
  signal.throwIfAborted();
  const { name } = server;
  const logFile = data.logFile(name);
  const hooks = { signal, onSpawn: (pid: number) => state.addChild(name, pid, server.stopSignal) };
  let logStart = 0;
  const startOn = (ports: readonly number[]) => {
    logStart = logBytes(logFile);
    return server.start(ports, hooks);
  };
  let running: T | undefined;
  let ports: readonly number[] | undefined;
  const supervised = await startRestartLoop({
    name,
    report: (line) => progress.note(line),
    lastOutput: () => lastLogLines(logFile, logStart, 1),
    start: async () => {
      if (ports !== undefined) return startOn(ports);
      const choose = async (chosen: number[]) => {
        const started = await startOn(chosen);
        ports = chosen;
        return started;
      };
      running = await startOnFreePorts(server.portCount, choose, state.portsOf(name));
      return running;
    },
  });
  resources.use(supervised);
  loops.set(name, supervised);
  if (running === undefined || ports === undefined) throw new Error(`${name} started without ports`);
  state.keepPorts(name, ports);
  return running;
}
