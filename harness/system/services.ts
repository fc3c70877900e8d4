import { join } from 'node:path';
import { startService } from '../../launcher/supervise/service-process.ts';
import { type ManagedProcess, startManagedProcess } from './managed-process.ts';
import type { Servers } from './servers.ts';
import type { SystemContext } from './system-options.ts';

/** Starts the ingest and writer processes of a system. */
export async function startServices(
  context: SystemContext,
  servers: Servers,
  ingestPorts: readonly number[],
): Promise<ManagedProcess[]> {
  const writers = Array.from({ length: context.options.writers }, (_, i) =>
    startManagedService(context, servers, { kind: 'writer', name: `writer-${i + 1}`, env: {} }),
  );
  const ingests = ingestPorts.map((port, i) =>
    startManagedService(context, servers, {
      kind: 'ingest',
      name: `ingest-${i + 1}`,
      env: { INGEST_PORT: String(port), ...context.options.ingestEnv },
    }),
  );
  return Promise.all([...writers, ...ingests]);
}

async function startManagedService(
  { directory, options, env: environment, pepper, stack, log }: SystemContext,
  { serviceEnv }: Servers,
  { name, kind, env: own }: { name: string; kind: 'ingest' | 'writer'; env: Record<string, string> },
): Promise<ManagedProcess> {
  const logFile = join(directory, 'logs', `${name}.log`);
  const env = {
    PATH: environment.PATH,
    API_KEY_PEPPER: pepper,
    WEIR_DATA_DIR: directory,
    LOG_LEVEL: 'warn',
    ...serviceEnv(kind),
    ...options.env,
    ...own,
  };
  const service = await startManagedProcess(
    { name, kind, logFile },
    (onSpawn) => startService({ name: kind, env, logFile, onSpawn }),
    log,
  );
  return stack.use(service);
}
