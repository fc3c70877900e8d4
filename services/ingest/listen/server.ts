import type { RequestListener } from 'node:http';
import type { Config } from '../../../lib/config.ts';
import { openCertificate } from '../../../lib/http/certificate.ts';
import { type Listener, openListener } from '../../../lib/http/listener.ts';
import type { Logger } from '../../../lib/log.ts';
import type { RespondError } from '../answer/respond-error.ts';
import { connectionsMax } from '../limits.ts';
import { createHttp1 } from './http1.ts';
import { createHttp2 } from './http2.ts';
import { createProtocolListener } from './protocol-listener.ts';

export interface ServerOptions {
  onRequest: RequestListener;
  respondError: RespondError;
  config: Config;
  log: Logger;
}

/**
 * Serves requests over HTTP/1.1 and HTTP/2 on one port. Disposing it stops listening, answers every request that has
 * begun unless its client takes too long to finish it, and closes all connections.
 *
 * @throws ConfigError when it cannot listen, or the certificate is not usable.
 */
export async function serveIngest(options: ServerOptions): Promise<Listener> {
  const { onRequest, respondError, config, log } = options;
  await using resources = new AsyncDisposableStack();
  const certificate = resources.use(await openCertificate(config, log));
  const servers = [createHttp1(onRequest, respondError), createHttp2(onRequest, respondError)] as const;
  const [http1, http2] = servers;
  const listener = await openListener(
    createProtocolListener({ http1: http1.server, http2: http2.server }, certificate),
    {
      prefix: 'INGEST',
      config,
      scheme: certificate === undefined ? 'http' : 'https',
      connectionsMax,
      // Both at once: neither may accept requests while the other drains.
      drain: () => Promise.all(servers.map((server) => server[Symbol.asyncDispose]())),
      log,
    },
  );
  resources.use(listener);
  const acquired = resources.move();
  return { url: listener.url, [Symbol.asyncDispose]: () => acquired.disposeAsync() };
}
