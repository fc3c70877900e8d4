import { openPostgres, type Sql } from '../../store/db/connect.ts';
import type { Pipeline } from './pipeline.ts';

/** Makes a pipeline's database unavailable to its services; connections of the test itself stay open. */
export interface DatabaseOutage extends AsyncDisposable {
  /** The name of the database. */
  readonly name: string;
  /** Connected to another database, with permission to change this one. */
  readonly admin: Sql;
  /** Terminates the services' connections. */
  terminate(): Promise<void>;
  /** Terminates them and rejects new ones. */
  begin(): Promise<void>;
  end(): Promise<void>;
}

export function openDatabaseOutage({ variables }: Pick<Pipeline, 'variables'>): DatabaseOutage {
  const maintenance = new URL(variables.DATABASE_URL ?? '');
  const name = maintenance.pathname.slice(1);
  maintenance.pathname = '/postgres';
  const options = { applicationName: 'test', connectionsMax: 1, statementTimeoutMs: 0 };
  const admin = openPostgres(maintenance.href, options);
  const setAllowed = (allowed: boolean) =>
    admin.unsafe(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${allowed}`);
  const terminate = async () => {
    await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = ${name} AND application_name LIKE 'weir-%'`;
  };
  return {
    name,
    admin,
    terminate,
    async begin() {
      await setAllowed(false);
      await terminate();
    },
    async end() {
      await setAllowed(true);
    },
    [Symbol.asyncDispose]: () => admin[Symbol.asyncDispose](),
  };
}
