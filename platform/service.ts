import { flushCompileCache } from 'node:module';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { requiredOf, type ServiceName } from './config/variables.ts';
import { type Config, parseConfig } from './config.ts';
import { type Logger, openLog } from './log.ts';
import { registerProcessMetrics } from './metrics/process-metrics.ts';
import { openServicePort, type Probes } from './metrics/service-port.ts';
import { logSummaries } from './metrics/summary.ts';
import { fingerprintOf, type ServiceReport } from './queue/roll-call.ts';
import { drainTimeoutMs } from './service-limits.ts';
import { version } from './version.ts';

/** How long a service that is stopped while it starts may take to release its resources: it has no work to finish. */
const startReleaseTimeoutMs = 2_000;

/** The argument of a service's `start` function: its configuration, its log, and the stack of its resources. */
export interface ServiceContext {
  config: Config;
  log: Logger;
  resources: AsyncDisposableStack;
  /** Aborted when the service begins to stop. It then goes on working for DRAIN_DELAY_MS, so that load balancers notice. */
  stopping: AbortSignal;
  /** What this service answers to `weir doctor`. */
  report: () => ServiceReport;
}

/** What a service reports when it has started. Other fields are logged, and sent to the supervisor. */
export interface Started extends Record<string, unknown> {
  readonly probes: Probes;
}

/** A service's name, and the name of the database schema that it is made for. */
export interface ServiceIdentity {
  readonly name: ServiceName;
  readonly schema: string;
}

/** Acquires the resources of a service, in order, onto the stack. */
export type StartService = (context: ServiceContext) => Promise<Started>;

/**
 * Runs a service in this process: parses the configuration, opens the service port, starts the service, and reports to the supervisor
 * that it is ready. SIGTERM, SIGINT or the supervisor's death stop it: resources are released in reverse order. While it starts it
 * stops at once, whatever `start` waits for.
 *
 * @returns after everything is released; the process then ends by itself. A failed start ends it with exit code 1.
 */
export async function runService(
  host: NodeJS.Process,
  { name, schema }: ServiceIdentity,
  start: StartService,
): Promise<void> {
  const stopped = stopRequested(host);
  let log: Logger | undefined;
  try {
    const config = parseConfig(host.env, requiredOf[name]);
    log = openLog(name, config);
    logUnhandled(host, name, log);
    await serve({ host, name, schema, config, log, stopped }, start);
  } catch (error) {
    log?.fatal({ err: error }, 'service failed');
    host.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    host.exit(1);
  }
  log?.info('stopped');
  if (host.connected) host.disconnect?.();
}

interface Run {
  host: NodeJS.Process;
  name: string;
  schema: string;
  config: Config;
  log: Logger;
  /** Resolves with the reason to stop. */
  stopped: Promise<string>;
}

async function serve({ host, name, schema, config, log, stopped }: Run, start: StartService): Promise<void> {
  registerProcessMetrics(host, { service: name, schema });
  await using port = await openServicePort(name, config, log);
  await using resources = new AsyncDisposableStack();
  const stopping = new AbortController();
  const identity = {
    service: name,
    host: hostname(),
    pid: host.pid,
    version,
    schema,
    pepperFingerprint: config.API_KEY_PEPPER && fingerprintOf(config.API_KEY_PEPPER),
    metricsUrl: port.url,
  };
  const report = () => ({ ...identity, nowMs: Date.now() });
  const starting = start({ config, log, resources, stopping: stopping.signal, report });
  const started = await Promise.race([starting, stopped.then(() => undefined)]);
  if (started === undefined) {
    log.info({ reason: await stopped }, 'stopped while starting');
    // It may fail on a resource that is released here, and its result is not used.
    starting.catch(() => {});
    await Promise.race([resources.disposeAsync(), sleep(startReleaseTimeoutMs)]).catch(() => {});
    // What `start` acquires from now on has no owner: only the exit releases it.
    return host.exit(0);
  }
  const { probes, ...own } = started;
  port.setStarted(probes);
  const details = { ...own, metricsUrl: port.url };
  await using _summaries = logSummaries(log);
  log.info(details, 'ready');
  host.send?.({ ready: true, ...details });
  // It runs for months and may be killed: Node would write its cache only at a regular exit.
  flushCompileCache();
  log.info({ reason: await stopped }, 'draining');
  port.setStopping();
  stopping.abort();
  // Ctrl-C, and a new supervisor, should not wait.
  if ((await stopped) === 'SIGTERM') await sleep(config.DRAIN_DELAY_MS);
  // A release that hangs must not keep the supervisor waiting forever.
  setTimeout(() => host.exit(1), drainTimeoutMs).unref();
}

/**
 * An error that no code expected is logged with its causes. A rejection belongs to one request or one task, so ingest and the dashboard
 * API continue: their other clients must not notice. The writer ends, because a task of it may have stopped for good: its messages
 * are delivered again to the process that replaces it. After an exception each of them ends.
 */
function logUnhandled(host: NodeJS.Process, name: ServiceName, log: Logger): void {
  const end = (error: unknown) => {
    log.fatal({ err: error }, 'service failed');
    host.exit(1);
  };
  host.on('uncaughtException', end);
  host.on('unhandledRejection', (reason) => {
    if (name === 'writer') end(reason);
    else log.error({ err: reason }, 'ALARM: a task failed, and no code expected it');
  });
}

function stopRequested(host: NodeJS.Process): Promise<string> {
  return new Promise((resolve) => {
    host.once('SIGTERM', () => resolve('SIGTERM'));
    host.once('SIGINT', () => resolve('SIGINT'));
    // The channel to the supervisor closes when the supervisor dies: a service must not outlive it.
    host.once('disconnect', () => resolve('supervisor gone'));
  });
}
