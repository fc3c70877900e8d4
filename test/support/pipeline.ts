import { urlOfRole } from '../../launcher/provision/postgres/roles.ts';
import { issueApiKey } from '../../store/accounts/api-keys.ts';
import { createSpace, type SpaceChange } from '../../store/accounts/spaces.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { type ServiceProcess, startService } from './service-process.ts';
import { createDatabase, startNats } from './test-servers.ts';

type Nats = Awaited<ReturnType<typeof startNats>>;

/** A space with an API key. */
export interface Tenant {
  spaceId: string;
  keyId: string;
  apiKey: string;
}

/** Ingest and writer as processes, with their own database and nats-server. Disposing kills them. */
export interface Pipeline extends AsyncDisposable {
  readonly url: string;
  /** As superuser. */
  readonly sql: Sql;
  /** As the owner of the tables, like commands of the operator. */
  readonly database: Database;
  nats: Nats;
  /** The configuration of the services, for tests that start more of them. */
  readonly variables: Record<string, string>;
  ingest: ServiceProcess;
  writer: ServiceProcess;
  createTenant(settings?: SpaceChange): Promise<Tenant>;
}

export const pepper = 'pepper-of-the-tests-only';

/** @param extra additional configuration of the services. DATABASE_URL, with the superuser, replaces the database of its own. */
export async function startPipeline(extra: Record<string, string> = {}): Promise<Pipeline> {
  await using stack = new AsyncDisposableStack();
  const databaseUrl = extra.DATABASE_URL ?? stack.use(await createDatabase()).url;
  const nats = stack.use(await startNats());
  const openPool = (url: string, connectionsMax: number) =>
    stack.use(openPostgres(url, { applicationName: 'test', connectionsMax, statementTimeoutMs: 0 }));
  const sql = openPool(databaseUrl, 4);
  const database = openDatabase(openPool(urlOfRole(databaseUrl, 'owner'), 2));
  const variables = {
    DATABASE_URL: databaseUrl,
    NATS_URL: nats.url,
    NATS_MONITOR_URL: nats.monitorUrl,
    API_KEY_PEPPER: pepper,
    INGEST_PORT: '0',
    QUEUE_BYTES_MAX: String(512 * 1024 ** 2),
    ...extra,
  };
  const [ingest, writer] = await Promise.all([
    startService('ingest', variables).then((service) => stack.use(service)),
    startService('writer', variables).then((service) => stack.use(service)),
  ]);
  const owned = stack.move();
  const pipeline: Pipeline = {
    url: ingest.ready.url ?? '',
    sql,
    database,
    nats,
    variables,
    ingest,
    writer,
    async createTenant(settings = {}) {
      const { id: spaceId } = await createSpace(database, 'test', settings);
      return { spaceId, ...(await issueApiKey(database, spaceId, { name: 'test', pepper })) };
    },
    async [Symbol.asyncDispose]() {
      // A test may have restarted the services.
      await Promise.all([this.ingest.stop('SIGKILL'), this.writer.stop('SIGKILL')]);
      await owned.disposeAsync();
    },
  };
  return pipeline;
}
