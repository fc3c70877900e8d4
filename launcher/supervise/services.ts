import { type ServiceName, serviceNames } from '../../platform/config/services.ts';
import type { Connection } from '../local-system.ts';
import type { Servers } from './embedded-servers.ts';
import { labelOf, numbersOf, type ProcessCounts } from './process-counts.ts';
import type { StartContext } from './start-context.ts';
import {
  portOf,
  type SupervisedService,
  type Supervision,
  superviseServices,
} from './supervised-services.ts';

export async function startServices(
  context: StartContext,
  counts: ProcessCounts,
  {
    shared,
    databaseUrlOf,
  }: { shared: Record<string, string | undefined>; databaseUrlOf: Servers['databaseUrlOf'] },
): Promise<Pick<Connection, 'ingestUrl' | 'dashboardUrl'>> {
  const { config } = context;
  const supervision = supervisionOf(context);
  const processesOf = (name: ServiceName, portVariable?: SupervisedService['portVariable']) => {
    const env = { ...shared, ...metricsPortOf(config, name), DATABASE_URL: databaseUrlOf(name) };
    return processes({ name, env, ...(portVariable && { portVariable }) }, counts);
  };
  const [firstIngest, ...otherIngests] = processesOf('ingest', 'INGEST_PORT');
  const dashboards = processesOf('dashboard-api', 'DASHBOARD_PORT');
  const writers = processesOf('writer');
  // With INGEST_PORT=0 the first ingest chooses the port that the others, and the dashboard, need.
  const isPortKnown = config.INGEST_PORT !== 0;
  const isAddressKnown = isPortKnown || config.INGEST_URL !== undefined;
  const [ingest, ...ready] = await superviseServices(supervision, [
    ...(firstIngest ? [firstIngest] : []),
    ...writers,
    ...(isPortKnown ? otherIngests : []),
    ...(isAddressKnown ? dashboards : []),
  ]);
  if (!ingest?.url) throw new Error('ingest did not report its URL');
  const { url } = ingest;
  const late = await superviseServices(supervision, [
    ...(isPortKnown ? [] : otherIngests.map((one) => withVariable(one, 'INGEST_PORT', portOf(url)))),
    ...(isAddressKnown ? [] : dashboards.map((one) => withVariable(one, 'INGEST_URL', url))),
  ]);
  const dashboard = (isAddressKnown ? ready : late).at(-1);
  if (!dashboard?.url) throw new Error('the dashboard API did not report its URL');
  return { ingestUrl: url, dashboardUrl: dashboard.url };
}

/** A service's processes. Each knows its number, and how many share the port and the limits of ingest. */
export function processes(
  service: Omit<SupervisedService, 'label'>,
  counts: ProcessCounts,
): SupervisedService[] {
  return numbersOf(counts[service.name]).map((number) => ({
    ...service,
    label: labelOf(service.name, number, counts),
    env: { ...service.env, INGEST_PROCESSES: String(counts.ingest), WEIR_PROCESS: String(number) },
  }));
}

export function withVariable(service: SupervisedService, name: string, value: string): SupervisedService {
  return { ...service, env: { ...service.env, [name]: value } };
}

function supervisionOf({ data, state, progress, resources, loops, signal }: StartContext): Supervision {
  return {
    logFileOf: data.logFile,
    onSpawn: (label, pid) => state.addChild(label, pid, 'SIGTERM'),
    report: (line) => progress.note(line),
    resources,
    loops,
    signal,
  };
}

/** Services on one machine need a port each: METRICS_PORT and the two after it. Without it they choose. */
function metricsPortOf({ METRICS_PORT: first }: StartContext['config'], name: ServiceName) {
  if (!first) return {};
  return { METRICS_PORT: String(first + serviceNames.indexOf(name)) };
}
