import postgres from 'postgres';
import { ensureRoles, urlOfRole } from '../../launcher/provision/postgres/roles.ts';
import { distributeDatabase, migrateDatabase } from '../../store/migrate/migrate.ts';

/**
 * URL of a database on an existing Citus coordinator that knows its workers. All nodes accept the same user.
 */
export const citusUrl = process.env.WEIR_TEST_CITUS_URL;

/** Few, so that tables are created fast; more than one on each of two workers. */
const shards = 4;

let databases = 0;

/** How long a `beforeAll` may wait for the other test files of the cluster. */
export const turnTimeoutMs = 1_200_000;

export interface Node {
  host: string;
  port: number;
}

interface CitusOptions {
  /** Neither migrated nor distributed. */
  empty?: boolean;
  /** With the roles of the services, whose owner migrates. */
  withRoles?: boolean;
  /** The address at which the other nodes reach a worker: that of a proxy in front of it. */
  through?: (worker: Node) => Promise<Node>;
  /** The last worker has the database, but is not part of the cluster: a test adds it. */
  hasSpare?: boolean;
}

/** The databases of this process that are not dropped, and the session that has the lock for them. */
let open = 0;
let turn: Promise<postgres.Sql> | undefined;

/**
 * Waits until no other process has databases in the cluster. A transaction of one test keeps rows that
 * another one erases, on the whole node: one file moves shards for a minute, another leaves transactions in
 * doubt.
 */
async function takeTurn(coordinatorUrl: string): Promise<AsyncDisposable> {
  open += 1;
  turn ??= (async () => {
    const sql = postgres(coordinatorUrl, { max: 1, idle_timeout: 0, max_lifetime: null });
    await sql`SELECT pg_advisory_lock(hashtext('weir test'))`;
    return sql;
  })();
  await turn;
  return {
    async [Symbol.asyncDispose]() {
      open -= 1;
      if (open > 0) return;
      const ended = turn;
      turn = undefined;
      await (await ended)?.end({ timeout: 5 });
    },
  };
}

/**
 * Creates a database for one test on all nodes of the cluster, migrated and distributed unless it is to be
 * `empty`. Citus has no template databases. Disposing drops it.
 */
export async function createCitusDatabase(
  coordinatorUrl: string,
  { empty = false, withRoles = false, hasSpare = false, through = async (node) => node }: CitusOptions = {},
): Promise<{ url: string; spare: Node | undefined } & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  resources.use(await takeTurn(coordinatorUrl));
  const name = `weir_test_${process.pid}_${Date.now().toString(36)}_${++databases}`;
  const [coordinator, ...workers] = await listNodes(coordinatorUrl);
  if (coordinator === undefined) throw new Error('WEIR_TEST_CITUS_URL does not name a coordinator');
  const nodes = [coordinator, ...workers];
  const spare = hasSpare ? workers.pop() : undefined;
  const urlAt = (node: Node, database: string) => atNode(coordinatorUrl, node, database);
  resources.defer(async () => {
    for (const node of nodes)
      await run(urlAt(node, 'postgres'), (sql) => sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`);
  });
  for (const node of nodes) {
    await run(urlAt(node, 'postgres'), (sql) => sql`CREATE DATABASE ${sql(name)} TEMPLATE template1`);
    // Before the extension, which would send the roles to the other nodes.
    if (withRoles) await ensureRoles(urlAt(node, name));
    await run(urlAt(node, name), (sql) => sql`CREATE EXTENSION citus`);
  }
  const url = urlAt(coordinator, name);
  await run(url, async (sql) => {
    await sql`SELECT citus_set_coordinator_host(${coordinator.host}, ${coordinator.port})`;
    for (const worker of workers) {
      const { host, port } = await through(worker);
      await sql`SELECT citus_add_node(${host}, ${port})`;
    }
    if (workers.length === 0)
      await sql`SELECT citus_set_node_property(${coordinator.host}, ${coordinator.port}, 'shouldhaveshards', true)`;
  });
  if (!empty) {
    const owner = withRoles ? urlOfRole(url, 'owner') : url;
    await migrateDatabase(owner);
    await distributeDatabase(owner, shards);
  }
  const owned = resources.move();
  return { url, spare, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Lists the nodes, coordinator first. */
async function listNodes(coordinatorUrl: string): Promise<Node[]> {
  const { hostname, port } = new URL(coordinatorUrl);
  const workers = await run(
    coordinatorUrl,
    (sql) => sql<Node[]>`
      SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE noderole = 'primary' AND groupid > 0`,
  );
  return [{ host: hostname, port: Number(port || 5432) }, ...workers];
}

function atNode(coordinatorUrl: string, { host, port }: Node, database: string): string {
  const url = new URL(coordinatorUrl);
  url.hostname = host;
  url.port = String(port);
  url.pathname = `/${database}`;
  return url.href;
}

async function run<T>(url: string, query: (sql: postgres.Sql) => PromiseLike<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await query(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
