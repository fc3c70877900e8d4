import { flushCompileCache } from 'node:module';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { requiredOf, type ServiceName } from './config/services.ts';
import { trustCertificates } from './config/trusted-certificates.ts';
import { type Config, parseConfig } from './config.ts';
import { readExpiry } from './http/certificate.ts';
import { drainTimeoutMs } from './limits.ts';
import { type Logger, openLog } from './log.ts';
import { registerProcessMetrics } from './metrics/process-metrics.ts';
import { openServicePort, type Probes } from './metrics/service-port.ts';
import { SpaceShares } from './metrics/space-metrics.ts';
import { logSummaries } from './metrics/summary.ts';
import { fingerprintOf, type ServiceReport } from './queue/service-discovery.ts';
import type { FindUnready } from './readiness.ts';
import { messageOf } from './thrown.ts';
import { version } from './version.ts';

/** How long a service that is stopped while it starts may take to release its resources. */
const startReleaseTimeoutMs = 2_000;

export interface ServiceContext {
  config: Config;
  log: Logger;
  resources: AsyncDisposableStack;
  /** Aborted when the service begins to stop; it then works on for DRAIN_DELAY_MS. */
  stopping: AbortSignal;
  /** Call it before waiting for dependencies: `/readyz` then names what the start waits for. */
  setStarting: (findUnready: FindUnready) => void;
  report: () => ServiceReport;
  shares: SpaceShares;
}

/** What a service reports when it has started. Other fields are logged, and sent to the supervisor. */
export interface Started extends Record<string, unknown> {
  readonly probes: Probes;
}

/** `schema`: the database schema that the service is made for. */
export interface ServiceIdentity {
  readonly name: ServiceName;
  readonly schema: string;
}

/** Acquires the resources of a service, in order, onto the stack. */
export type StartService = (context: ServiceContext) => Promise<Started>;

/**
 * Opens the service port and starts a service. A process can have several, which share its metrics.
 * Disposing releases resources in reverse order, and the service port last.
 * @param signal aborts the start: what was acquired is released, and what `start` acquires later is not.
 * @throws the reason of `signal`, or the error of `start`, after the resources are released.
 */
export async function openService(
  start: StartService,
  { name, schema }: ServiceIdentity,
  { config, log, pid, signal }: { config: Config; log: Logger; pid: number; signal: AbortSignal },
) {
  await using starting = new AsyncDisposableStack();
  const port = starting.use(await openServicePort(name, config, log));
  const resources = new AsyncDisposableStack();
  const stopping = new AbortController();
  const shares = new SpaceShares();
  const report = createReport({ name, schema }, config, { pid, metricsUrl: port.url, shares });
  const started = start({
    config,
    log,
    resources,
    stopping: stopping.signal,
    setStarting: (findUnready) => port.state.setStarting(findUnready),
    report,
    shares,
  });
  const { probes, ...own } = await Promise.race([started, rejectOnAbort(signal)]).catch(async (error) => {
    // It may fail on a resource that is released here, and its result is not used.
    started.catch(() => {});
    const released = resources.disposeAsync();
    await (signal.aborted
      ? Promise.race([released, sleep(startReleaseTimeoutMs)]).catch(() => {})
      : released);
    throw error;
  });
  starting.use(resources);
  port.state.setStarted(probes);
  const owned = starting.move();
  return {
    /** What `start` returned, and the address of the service port. */
    details: { ...own, metricsUrl: port.url },
    /** Reports that the service is not ready, and works on for so long, so that load balancers notice. */
    async drain(delayMs: number): Promise<void> {
      port.state.setStopping();
      stopping.abort();
      await sleep(delayMs);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function createReport(
  { name, schema }: ServiceIdentity,
  config: Config,
  { shares, ...process }: { pid: number; metricsUrl: string; shares: SpaceShares },
): () => ServiceReport {
  const { API_KEY_PEPPER: pepper } = config;
  const identity = {
    service: name,
    host: hostname(),
    version,
    schema,
    pepperFingerprint: pepper && fingerprintOf(pepper),
    ...process,
  };
  const certFile = name === 'writer' ? undefined : config.TLS_CERT_FILE;
  return () => ({
    ...identity,
    certificateExpiresAt: certFile && readExpiry(certFile),
    busiest: shares.findBusiest(),
    nowMs: Date.now(),
  });
}

/**
 * Starts a service by the environment, and tells the supervisor when it is ready. SIGTERM, SIGINT or the
 * supervisor's death stop it, also at once while it starts.
 * @returns after everything is released; the process then ends by itself. A failed start ends it with exit
 * code 1.
 */
export async function runService(
  host: NodeJS.Process,
  identity: ServiceIdentity,
  start: StartService,
): Promise<void> {
  const { name } = identity;
  const signal = stopRequested(host);
  let log: Logger | undefined;
  try {
    const config = parseConfig(host.env, requiredOf[name]);
    trustCertificates(config);
    log = openLog(name, config);
    logUnhandled(host, name, log);
    registerProcessMetrics(host, { service: name, schema: identity.schema });
    await using service = await openService(start, identity, { config, log, pid: host.pid, signal });
    await using _summaries = logSummaries(log);
    log.info(service.details, 'ready');
    host.send?.({ ready: true, ...service.details });
    // A long run may be killed: Node would write its cache only at a regular exit.
    flushCompileCache();
    await rejectOnAbort(signal).catch(() => {});
    log.info({ reason: signal.reason }, 'draining');
    // Ctrl-C, and a new supervisor, should not wait.
    await service.drain(signal.reason === 'SIGTERM' ? config.DRAIN_DELAY_MS : 0);
    // A release that hangs must not keep the supervisor waiting forever.
    setTimeout(() => host.exit(1), drainTimeoutMs).unref();
  } catch (error) {
    if (signal.aborted && error === signal.reason) {
      log?.info({ reason: signal.reason }, 'stopped while starting');
      // What `start` acquires from now on has no owner: only the exit releases it.
      return host.exit(0);
    }
    log?.fatal({ err: error }, 'service failed');
    host.stderr.write(`${name}: ${messageOf(error)}\n`);
    host.exit(1);
  }
  log?.info('stopped');
  if (host.connected) host.disconnect?.();
}

/**
 * Logs an unexpected error with its causes. A rejection belongs to one request or task, so ingest and the
 * dashboard API continue for their other clients. The writer ends: a task may have stopped for good, and its
 * messages are delivered to the process that replaces it. An exception ends each of them.
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

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** Aborted with the reason to stop the service. */
function stopRequested(host: NodeJS.Process): AbortSignal {
  const requested = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) host.once(signal, () => requested.abort(signal));
  // The channel to the supervisor closes when the supervisor dies: a service must not outlive it.
  host.once('disconnect', () => requested.abort('supervisor gone'));
  return requested.signal;
}
