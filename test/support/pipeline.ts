import { urlOfRole } from '../../launcher/provision/postgres/roles.ts';
import type { ServiceName } from '../../platform/config/services.ts';
import { issueApiKey } from '../../store/accounts/api-keys.ts';
import { createSpace, type SpaceChange } from '../../store/accounts/spaces.ts';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { openService, type TestService } from './service.ts';
import { type ServiceProcess, startService } from './service-process.ts';
import { createDatabase, startNats } from './test-servers.ts';

type Nats = Awaited<ReturnType<typeof startNats>>;

/** A space with an API key. */
export interface Tenant {
  spaceId: string;
  keyId: string;
  apiKey: string;
}

/** Ingest and writer, with their own database and nats-server. Disposing stops them. */
export interface Pipeline<Service extends TestService = TestService> extends AsyncDisposable {
  readonly url: string;
  /** As superuser. */
  readonly sql: Sql;
  /** As the owner of the tables, like commands of the operator. */
  readonly database: Database;
  nats: Nats;
  /** The configuration of the services. */
  readonly variables: Record<string, string>;
  ingest: Service;
  writer: Service;
  /** Starts another ingest or writer, or one in place of a stopped one, in the way of this pipeline. */
  start(name: ServiceName, variables?: Record<string, string>): Promise<Service>;
  createTenant(settings?: SpaceChange): Promise<Tenant>;
}

/** A pipeline whose services are processes: for tests of signals, of memory, and of what survives a kill. */
export type ProcessPipeline = Pipeline<ServiceProcess>;

export const pepper = 'pepper-of-the-tests-only';

/**
 * Starts a pipeline in the test's process.
 *
 * @param extra additional configuration of the services. DATABASE_URL, with the superuser, replaces the
 * database of its own.
 */
export const startPipeline = (extra: Record<string, string> = {}): Promise<Pipeline> =>
  start(openService, extra);

/** The same, with services that are processes. */
export const startProcessPipeline = (extra: Record<string, string> = {}): Promise<ProcessPipeline> =>
  start(startService, extra);

async function start<Service extends TestService>(
  startOne: (name: ServiceName, variables: Record<string, string>) => Promise<Service>,
  extra: Record<string, string>,
): Promise<Pipeline<Service>> {
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
    startOne('ingest', variables).then((service) => stack.use(service)),
    startOne('writer', variables).then((service) => stack.use(service)),
  ]);
  const services = stack.use(new AsyncDisposableStack());
  const owned = stack.move();
  return {
    url: ingest.ready.url ?? '',
    sql,
    database,
    nats,
    variables,
    ingest,
    writer,
    start: async (name, own = {}) => services.use(await startOne(name, { ...variables, ...own })),
    async createTenant(settings = {}) {
      const { id: spaceId } = await createSpace(database, 'test', settings);
      return { spaceId, ...(await issueApiKey(database, spaceId, { name: 'test', pepper })) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
