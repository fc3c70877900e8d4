import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Config } from '../../lib/config.ts';
import type { Certificate } from '../../lib/http/certificate.ts';
import { openCertificate } from '../../lib/http/certificate.ts';
import { createHttp1Drain, http1Options } from '../../lib/http/http1.ts';
import { headersTimeoutMs } from '../../lib/http/limits.ts';
import { type Listener, openListener } from '../../lib/http/listener.ts';
import type { Logger } from '../../lib/log.ts';
import { dashboardSocketsMax } from './limits.ts';

export interface ServerOptions {
  onRequest: RequestListener;
  config: Config;
  log: Logger;
}

/**
 * Serves the dashboard API over HTTP/1.1, with TLS when the configuration names a certificate. Disposing it stops
 * listening, finishes the calls that run, and closes all connections.
 *
 * @throws ConfigError when it cannot listen, or the certificate is not usable.
 */
export async function serveDashboard({ onRequest, config, log }: ServerOptions): Promise<Listener> {
  await using resources = new AsyncDisposableStack();
  const certificate = resources.use(await openCertificate(config, log));
  const server = createHttpServer(onRequest, certificate);
  const listener = await openListener(server, {
    prefix: 'DASHBOARD',
    config,
    scheme: certificate === undefined ? 'http' : 'https',
    connectionsMax: dashboardSocketsMax,
    drain: createHttp1Drain(server),
    log,
  });
  resources.use(listener);
  const acquired = resources.move();
  return { url: listener.url, [Symbol.asyncDispose]: () => acquired.disposeAsync() };
}

function createHttpServer(onRequest: RequestListener, certificate: Certificate | undefined) {
  if (certificate === undefined) return createServer(http1Options, onRequest);
  const options = { ...http1Options, ...certificate.initial, handshakeTimeout: headersTimeoutMs };
  const server = createTlsServer(options, onRequest);
  certificate.onRenewal((pair) => server.setSecureContext(pair));
  return server;
}
