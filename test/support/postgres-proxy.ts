import { inject } from 'vitest';
import { TcpProxy } from '../../harness/network/tcp-proxy.ts';

/** A TCP proxy in front of the Postgres of the test run. */
export interface PostgresProxy extends AsyncDisposable {
  readonly proxy: TcpProxy;
  /** The URL of a database through the proxy. */
  through(databaseUrl: string): string;
}

export async function openPostgresProxy(): Promise<PostgresProxy> {
  const proxy = await TcpProxy.open(Number(new URL(inject('templateDatabaseUrl')).port));
  return {
    proxy,
    through(databaseUrl) {
      const url = new URL(databaseUrl);
      url.port = String(proxy.port);
      return url.href;
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
