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

export interface ServicePort extends AsyncDisposable {
  readonly url: string;
  readonly state: ServiceState;
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
  const state = new ServiceState();
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    respond(state, request, response).catch((error: unknown) => {
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
    state,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What the probes answer. */
class ServiceState {
  #probes: Probes | undefined;
  #findMissing: FindUnready = async () => [];
  #isStopping = false;
  readonly checks: Readonly<Record<string, FindUnready>> = {
    '/livez': async () => (await this.#probes?.findDead?.()) ?? [],
    '/readyz': () => this.#findUnready(),
    '/startupz': async () => (this.#probes === undefined ? ['start'] : []),
  };

  /** Called while the service starts, with what it waits for: `/readyz` names that instead of `start`. */
  setStarting(findUnready: FindUnready): void {
    this.#findMissing = findUnready;
  }

  /** Called when the service has started. Before that, `/startupz` and `/readyz` answer 503. */
  setStarted(probes: Probes): void {
    this.#probes = probes;
  }

  /** `/readyz` answers 503 from then on. */
  setStopping(): void {
    this.#isStopping = true;
  }

  async findImpaired(): Promise<string[]> {
    return (await this.#probes?.findImpaired?.()) ?? [];
  }

  async #findUnready(): Promise<string[]> {
    if (this.#probes !== undefined) return this.#isStopping ? ['stopping'] : this.#probes.findUnready();
    const missing = await this.#findMissing();
    return missing.length > 0 ? missing : ['start'];
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  const listening = once(server, 'listening');
  server.listen({ host, port });
  await listening;
}

async function respond(
  state: ServiceState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url?.split('?', 1)[0] ?? '';
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(response, 405, empty);
  if (path === '/metrics') return sendMetrics(request, response);
  const check = Object.hasOwn(state.checks, path) ? state.checks[path] : undefined;
  if (check === undefined) return send(response, 404, empty);
  const missing = await check();
  const impaired = path === '/readyz' ? await state.findImpaired() : [];
  const waitingFor = [...missing, ...impaired];
  const status = missing.length === 0 ? 200 : 503;
  const text = JSON.stringify({ ok: status === 200, waitingFor });
  send(response, status, { type: 'application/json', text });
}

const empty = { type: 'text/plain', text: '' };

async function sendMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await register.metrics();
  if (request.headers.accept?.includes('application/openmetrics-text'))
    return send(response, 200, { type: Registry.OPENMETRICS_CONTENT_TYPE, text });
  send(response, 200, { type: Registry.PROMETHEUS_CONTENT_TYPE, text: toPrometheusText(text) });
}

function send(
  response: ServerResponse,
  status: number,
  { type, text }: { type: string; text: string },
): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' });
  response.end(text);
}

/**
 * Converts OpenMetrics to Prometheus' text format 0.0.4, where the name of a counter in its comments has the
 * suffix of its samples. Writing both with the client library changes names in one.
 * @param openMetrics of the client library: without units, exemplars and timestamps.
 */
function toPrometheusText(openMetrics: string): string {
  const counters = new Set(Array.from(openMetrics.matchAll(/^# TYPE (\S+) counter$/gm), ([, name]) => name));
  return openMetrics
    .replace(/^# (HELP|TYPE) (\S+)/gm, (line, _, name) => (counters.has(name) ? `${line}_total` : line))
    .replace(/^# EOF\n/m, '');
}
