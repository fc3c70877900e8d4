import type { Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import { openCertificate } from './certificate.ts';
import { type Listener, type ListenerOptions, openListener } from './listener.ts';
import { createProtocolListener } from './protocol-listener.ts';

/** Disposing a server resolves when its requests are answered. */
export interface HttpServers {
  http1: { server: Server } & AsyncDisposable;
  http2: { server: Http2Server } & AsyncDisposable;
}

export interface ServeOptions
  extends Pick<ListenerOptions, 'prefix' | 'connectionsMax' | 'isShared' | 'log'> {
  config: ListenerOptions['config'] & Parameters<typeof openCertificate>[0];
}

/**
 * HTTP/1.1 and HTTP/2 on one port, with TLS when a certificate is configured. Disposing answers every begun
 * request unless its client is too slow, and closes all connections.
 * @throws ConfigError when it cannot listen, or the certificate is not usable.
 */
export async function serveHttp({ http1, http2 }: HttpServers, options: ServeOptions): Promise<Listener> {
  const { config, log } = options;
  await using resources = new AsyncDisposableStack();
  const certificate = resources.use(await openCertificate(config, log));
  const draining = new AbortController();
  const listener = await openListener(
    createProtocolListener({ http1: http1.server, http2: http2.server }, draining.signal, certificate),
    {
      ...options,
      scheme: certificate === undefined ? 'http' : 'https',
      // Both at once: neither may accept requests while the other drains.
      drain: () => {
        draining.abort();
        return Promise.all([http1, http2].map((server) => server[Symbol.asyncDispose]()));
      },
    },
  );
  resources.use(listener);
  const acquired = resources.move();
  return { url: listener.url, [Symbol.asyncDispose]: () => acquired.disposeAsync() };
}
