import { issueApiKey } from '../../lib/access/api-keys.ts';
import { createSpace, type SpaceChange } from '../../lib/access/spaces.ts';
import { openPostgres, type Sql } from '../../lib/db/connect.ts';
import { type Database, openDatabase } from '../../lib/db/database.ts';
import { createDatabase, startNats } from './backing.ts';
import { type ServiceProcess, startService } from './service-process.ts';

type Nats = Awaited<ReturnType<typeof startNats>>;

/** A space with a key, as a client of ingest has it. */
export interface Tenant {
  spaceId: string;
  keyId: string;
  apiKey: string;
}

/** Ingest and writer as processes, on a database and a nats-server of the test's own. */
export interface Pipeline extends AsyncDisposable {
  readonly url: string;
  readonly sql: Sql;
  readonly database: Database;
  nats: Nats;
  readonly variables: Record<string, string>;
  ingest: ServiceProcess;
  writer: ServiceProcess;
  createTenant(settings?: SpaceChange): Promise<Tenant>;
}

export const pepper = 'pepper-of-the-tests-only';

/** @param extra configuration for the services, beside what they need. */
export async function startPipeline(extra: Record<string, string> = {}): Promise<Pipeline> {
  await using stack = new AsyncDisposableStack();
  const backing = stack.use(await createDatabase());
  const nats = stack.use(await startNats());
  const sql = stack.use(
    openPostgres(backing.url, { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 0 }),
  );
  const database = openDatabase(
    stack.use(
      openPostgres(backing.url, { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 0 }),
    ),
  );
  const variables = {
    DATABASE_URL: backing.url,
    NATS_URL: nats.url,
    NATS_MONITOR_URL: nats.monitorUrl,
    API_KEY_PEPPER: pepper,
    INGEST_PORT: '0',
    QUEUE_BYTES_MAX: String(512 * 1024 ** 2),
    ...extra,
  };
  const [ingest, writer] = await Promise.all([
    startService('ingest', variables),
    startService('writer', variables),
  ]);
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
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  // A test may have replaced them: what is there at the end is what is stopped.
  stack.defer(async () => void (await pipeline.ingest.stop('SIGKILL')));
  stack.defer(async () => void (await pipeline.writer.stop('SIGKILL')));
  const owned = stack.move();
  return pipeline;
}
