import { openPostgres, type Sql } from '../../store/db/connect.ts';
import type { PeerDatabase } from './peer.ts';

/**
 * Opens a peer's own database, which is created when it does not exist.
 * @param serverUrl of another database of the server.
 */
export async function openPeerDatabase(serverUrl: string, name: string): Promise<PeerDatabase> {
  {
    await using server = open(serverUrl);
    const found = await server`SELECT FROM pg_database WHERE datname = ${name}`;
    if (found.length === 0) await server`CREATE DATABASE ${server(name)}`;
  }
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
  const sql = open(url);
  return {
    url,
    sql,
    countBytes: () => countDatabaseBytes(sql),
    [Symbol.asyncDispose]: () => sql[Symbol.asyncDispose](),
  };
}

/** The size of the connection's database, with its indexes. */
export async function countDatabaseBytes(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`SELECT pg_database_size(current_database())::float8 AS bytes`;
  return row?.bytes ?? Number.NaN;
}

function open(url: string): Sql & AsyncDisposable {
  return openPostgres(url, { applicationName: 'weir-peers', statementTimeoutMs: 0 });
}
