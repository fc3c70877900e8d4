import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry, register } from '@prometheus-io/client';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import type { FindUnready } from '../readiness.ts';
import { requestsMax, requestTimeoutMs } from './limits.ts';

export interface Probes {
  /** What the service waits for. Not ready: send it no requests. */
  readonly findUnready: FindUnready;
  /** What does not work while the service does most of its work: `/readyz` names it with 200. */
  readonly findImpaired?: FindUnready;
  /** What makes a restart necessary. Default: nothing; a response shows that the event loop turns. */
  readonly findDead?: FindUnready;
}

/** Metrics and probes. */
export interface ServicePort extends AsyncDisposable {
  readonly url: string;
  /** Called while the service starts, with what it waits for: `/readyz` names that instead of `start`. */
  setStarting(findUnready: FindUnready): void;
  /** Called when the service has started. Before that, `/startupz` and `/readyz` answer 503. */
  setStarted(probes: Probes): void;
  /** `/readyz` answers 503 from then on. */
  setStopping(): void;
}

/** Differ for services on one machine. 9464 is the usual port of exporters for Prometheus. */
const defaultPorts: Record<string, number> = { ingest: 9464, writer: 9465, 'dashboard-api': 9466 };

/** Between the ports of two processes of a service: larger than the number of services. */
const portsPerProcess = 10;

/**
 * Serves `/metrics` (OpenMetrics, and Prometheus' text format), `/livez`, `/readyz` and `/startupz`, without
 * authentication: on loopback by default. Without METRICS_PORT it uses the service's default port, or any
 * free one if that is in use. The n-th process of a service uses a port ten above that of the one before.
 * @throws ConfigError when it cannot listen on METRICS_HOST and METRICS_PORT.
 */
export async function openServicePort(
  service: string,
  {
    METRICS_HOST: host,
    METRICS_PORT: configured,
    WEIR_PROCESS: number,
  }: Pick<Config, 'METRICS_HOST' | 'METRICS_PORT' | 'WEIR_PROCESS'>,
  log: Logger,
): Promise<ServicePort> {
  register.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  let probes: Probes | undefined;
  let findMissing: FindUnready = async () => [];
  let isStopping = false;
  const findUnready = async () => {
    if (probes === undefined) {
      const missing = await findMissing();
      return missing.length > 0 ? missing : ['start'];
    }
    return isStopping ? ['stopping'] : probes.findUnready();
  };
  const checks: Record<string, FindUnready> = {
    '/livez': async () => (await probes?.findDead?.()) ?? [],
    '/readyz': findUnready,
    '/startupz': async () => (probes === undefined ? ['start'] : []),
  };
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    respond(checks, probes?.findImpaired, { request, response }).catch((error: unknown) => {
      log.warn({ err: error }, 'a request to the service port failed');
      response.destroy();
    });
  });
  server.maxConnections = requestsMax;
  const first = configured ?? defaultPorts[service] ?? 0;
  const port = first === 0 ? 0 : first + portsPerProcess * (number - 1);
  await listen(server, host, port).catch((error: NodeJS.ErrnoException) => {
    if (configured === undefined && error.code === 'EADDRINUSE') return listen(server, host, 0);
    throw new ConfigError(
      `METRICS_HOST ${host} and METRICS_PORT ${configured}: cannot listen on port ${port} (${error.code}).`,
    );
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    setStarting: (find) => {
      findMissing = find;
    },
    setStarted: (given) => {
      probes = given;
    },
    setStopping: () => {
      isStopping = true;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  const listening = once(server, 'listening');
  server.listen({ host, port });
  await listening;
}

async function respond(
  checks: Readonly<Record<string, FindUnready>>,
  findImpaired: FindUnready | undefined,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const path = request.url?.split('?', 1)[0] ?? '';
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, 'text/plain', '');
  if (path === '/metrics') return sendMetrics(request, response);
  const check = Object.hasOwn(checks, path) ? checks[path] : undefined;
  if (check === undefined) return send(response, 404, 'text/plain', '');
  const missing = await check();
  const impaired = path === '/readyz' ? await findImpaired?.() : [];
  const waitingFor = [...missing, ...(impaired ?? [])];
  const status = missing.length === 0 ? 200 : 503;
  send(response, status, 'application/json', JSON.stringify({ ok: status === 200, waitingFor }));
}

async function sendMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await register.metrics();
  if (request.headers.accept?.includes('application/openmetrics-text'))
    return send(response, 200, Registry.OPENMETRICS_CONTENT_TYPE, text);
  send(response, 200, Registry.PROMETHEUS_CONTENT_TYPE, toPrometheusText(text));
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' });
  response.end(text);
}

/**
 * Converts OpenMetrics to Prometheus' text format 0.0.4, where the name of a counter in its comments has the
 * suffix of its samples. Writing both with the client library changes names in one.
 * @param openMetrics of the client library: without units, exemplars and timestamps.
 */
export function toPrometheusText(openMetrics: string): string {
  const counters = new Set(Array.from(openMetrics.matchAll(/^# TYPE (\S+) counter$/gm), ([, name]) => name));
  return openMetrics
    .replace(/^# (HELP|TYPE) (\S+)/gm, (line, _, name) => (counters.has(name) ? `${line}_total` : line))
    .replace(/^# EOF\n/m, '');
}
