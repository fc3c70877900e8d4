import {
  type EmbeddedProcess,
  lastLogLines,
  logLength,
  type StartHooks,
} from '../provision/embedded-process.ts';
import { startOnFreePorts } from '../provision/ports.ts';
import type { StartContext } from './context.ts';
import { keepAlive } from './keep-alive.ts';

export interface EmbeddedServer<T extends EmbeddedProcess> {
  name: 'postgres' | 'nats-server';
  portCount: number;
  /** How a later start stops it, should we be killed. */
  stopSignal: NodeJS.Signals;
  start: (ports: readonly number[], hooks: Required<StartHooks>) => Promise<T>;
}

/**
 * Starts an embedded server on free ports and keeps it running. It keeps its ports: clients reconnect to them after a
 * crash, and the next start prefers them.
 */
export async function keepEmbedded<T extends EmbeddedProcess>(
  { data, state, progress, resources, signal }: StartContext,
  server: EmbeddedServer<T>,
): Promise<T> {
  signal.throwIfAborted();
  const { name } = server;
  const logFile = data.logFile(name);
  const hooks = { signal, onSpawn: (pid: number) => state.addChild(name, pid, server.stopSignal) };
  let logStart = 0;
  const startOn = (ports: readonly number[]) => {
    logStart = logLength(logFile);
    return server.start(ports, hooks);
  };
  let running: T | undefined;
  let ports: readonly number[] | undefined;
  const kept = await keepAlive({
    name,
    report: (line) => progress.note(line),
    lastWords: () => lastLogLines(logFile, logStart, 1),
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
  resources.use(kept);
  if (running === undefined || ports === undefined) throw new Error(`${name} started without ports`);
  state.keepPorts(name, ports);
  return running;
}
