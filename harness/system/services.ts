import { join } from 'node:path';
import { startService } from '../../launcher/supervise/service-process.ts';
import type { ServiceName } from '../../platform/config/services.ts';
import { allStarted, type ManagedProcess, startManagedProcess } from './managed-process.ts';
import type { Servers } from './servers.ts';
import type { SystemContext } from './system-options.ts';

/** The ports that the services listen on. */
export interface ServicePorts {
  ingests: readonly number[];
  /** Of the probes of the writers, in a system on Citus. */
  writers: readonly number[];
  /** 0 in a system without a dashboard API. */
  dashboard: number;
}

interface ServiceStart {
  name: string;
  kind: ServiceName;
  env: Record<string, string>;
}

/** Starts the ingest and writer processes of a system, and its dashboard API. */
export async function startServices(
  context: SystemContext,
  servers: Servers,
  { ingests, writers, dashboard }: ServicePorts,
): Promise<ManagedProcess[]> {
  const { ingestEnv, citus } = context.options;
  const starts: ServiceStart[] = [
    ...writers.map((port, i) => ({
      kind: 'writer' as const,
      name: `writer-${i + 1}`,
      env: citus ? { METRICS_PORT: String(port) } : {},
    })),
    ...ingests.map((port, i) => ({
      kind: 'ingest' as const,
      name: `ingest-${i + 1}`,
      env: { INGEST_PORT: String(port), ...ingestEnv },
    })),
  ];
  if (dashboard !== 0)
    starts.push({ kind: 'dashboard-api', name: 'dashboard-api', env: { DASHBOARD_PORT: String(dashboard) } });
  return allStarted(starts.map((start) => startManagedService(context, servers, start)));
}

async function startManagedService(
  { directory, options, env: environment, pepper, checkouts, stack, log }: SystemContext,
  { serviceEnv }: Servers,
  { name, kind, env: own }: ServiceStart,
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
    (onSpawn) => startService({ name: kind, env, logFile, onSpawn, root: checkouts.get(name) }),
    log,
  );
  return stack.use(service);
}
