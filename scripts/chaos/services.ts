import { join } from 'node:path';
import { startService } from '../start/service.ts';
import type { Backing } from './backing.ts';
import { type Part, startPart } from './part.ts';
import type { SystemContext } from './system.ts';

/** Starts the ingest and writer processes of a system. */
export async function startServices(
  context: SystemContext,
  backing: Backing,
  ingestPorts: readonly number[],
): Promise<Part[]> {
  const writers = Array.from({ length: context.options.writers }, (_, i) =>
    startServicePart(context, backing, { kind: 'writer', name: `writer-${i + 1}`, env: {} }),
  );
  const ingests = ingestPorts.map((port, i) =>
    startServicePart(context, backing, {
      kind: 'ingest',
      name: `ingest-${i + 1}`,
      env: { INGEST_PORT: String(port) },
    }),
  );
  return Promise.all([...writers, ...ingests]);
}

async function startServicePart(
  { directory, options, env: surroundings, pepper, stack, log }: SystemContext,
  { serviceEnv }: Backing,
  { name, kind, env: own }: { name: string; kind: 'ingest' | 'writer'; env: Record<string, string> },
): Promise<Part> {
  const logFile = join(directory, 'logs', `${name}.log`);
  const env = {
    PATH: surroundings.PATH,
    API_KEY_PEPPER: pepper,
    WEIR_DATA_DIR: directory,
    LOG_LEVEL: 'warn',
    ...serviceEnv(kind),
    ...options.env,
    ...own,
  };
  const signal = new AbortController().signal;
  const part = await startPart(
    { name, kind, logFile },
    (onSpawn) => startService({ name: kind, env, logFile, onSpawn, signal }),
    log,
  );
  return stack.use(part);
}
