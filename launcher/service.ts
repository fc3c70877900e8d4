import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../platform/config/config-error.ts';
import { type ServiceName, serviceNames } from '../platform/config/services.ts';
import { parseConfig } from '../platform/config.ts';
import { runServiceGroup } from './service-group.ts';
import { countProcesses, type ProcessCounts } from './supervise/process-counts.ts';
import { isServiceName, mallocVariables, nodeOptionsOf } from './supervise/service-process.ts';

/**
 * `node launcher/service.ts [ingest | writer | dashboard-api | weir …]`: becomes this service (by default
 * WEIR_SERVICE) or command, with the options of Node and malloc that `weir start` gives it. The process is
 * replaced: signals and pid are the service's. Several INGEST_PROCESSES or WRITER_PROCESSES, the default of
 * larger machines, are supervised.
 */
const [name = process.env.WEIR_SERVICE ?? '', ...args] = process.argv.slice(2);
const pathOf = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));

if (name === 'weir') become([pathOf('cli/main.ts'), ...args], process.env);
else if (isServiceName(name)) await runService(name);
else {
  process.stderr.write(
    `Name what to run, as the first argument or in WEIR_SERVICE: ${serviceNames.join(', ')}, or \`weir\` and a command.\n`,
  );
  process.exitCode = 2;
}

async function runService(service: ServiceName): Promise<void> {
  const counts = readCounts();
  if (counts !== undefined && counts[service] > 1) {
    await runServiceGroup(process, service, counts).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
      process.exitCode = 1;
    });
    return;
  }
  const env = { ...mallocVariables, ...process.env, ...(counts && { INGEST_PROCESSES: '1' }) };
  become([...nodeOptionsOf(service), pathOf(`services/${service}/main.ts`)], env);
}

/** @returns undefined for a faulty configuration, whose mistakes the service itself reports. */
function readCounts(): ProcessCounts | undefined {
  try {
    return countProcesses(parseConfig(process.env));
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function become(args: readonly string[], env: NodeJS.ProcessEnv): void {
  if (process.execve === undefined) throw new Error('this platform cannot replace a process');
  process.execve(process.execPath, [process.execPath, ...args], env);
}
