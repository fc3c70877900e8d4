import { openPostgres, type Sql } from '../../../lib/db/connect.ts';
import { openDatabase } from '../../../lib/db/database.ts';
import { migrateDatabase } from '../../../lib/db/migrate.ts';
import type { Part } from '../../../lib/queue/group.ts';
import { storeParameters, storeStatement } from '../../../lib/write/statement.ts';
import { migrateToBaseline } from '../../fixtures/baseline/database.ts';
import { baselineParameters, baselineStatement } from '../../fixtures/baseline/statement.ts';

/** Statements that run at the same time, as the writer's do. */
export const concurrency = 3;

/** What is compared: a schema and a statement that stores parts in it. */
interface Variant {
  /** Creates the schema in an empty database. */
  readonly prepare: (url: string, sql: Sql) => Promise<unknown>;
  readonly statement: string;
  readonly parameters: (parts: readonly Part[]) => (string | Buffer)[];
}

const now: Variant = {
  prepare: migrateDatabase,
  statement: storeStatement,
  parameters: storeParameters,
};

/** Without the parts of the statement that count in `event_stats`, `agent_stats` and their roll-ups. */
const uncountedStatement = storeStatement.replace(/, name_counts AS [\s\S]*?(?=, segment AS \()/, '');
if (
  !uncountedStatement.includes('usage AS') ||
  /by_name|by_agent|(?:name|agent)_counts/.test(uncountedStatement)
) {
  throw new Error('the store statement has other parts than this benchmark leaves out');
}

const variants = {
  /** One table of events with a primary key on their ids, before there was a ledger. */
  baseline: {
    prepare: (_url, sql) => migrateToBaseline(openDatabase(sql)),
    statement: baselineStatement,
    parameters: baselineParameters,
  },
  now,
  uncounted: { ...now, statement: uncountedStatement },
  /** The index on terms merges its pending list at 4 MB, the default, instead of 256 KiB. */
  longPendingList: {
    ...now,
    prepare: async (url, sql) => {
      await migrateDatabase(url);
      await setPendingList(sql, 4_096);
    },
  },
} satisfies Record<string, Variant>;

export type VariantName = keyof typeof variants;
export const variantNames = Object.keys(variants) as VariantName[];

/** A database of a variant of its own, with as many connections as a writer has. */
export interface Store extends AsyncDisposable {
  readonly sql: Sql;
  readonly variant: VariantName;
  store(part: Part): Promise<void>;
}

/** @param administration a connection that may create databases. */
export async function createStore(
  administration: Sql,
  serverUrl: string,
  variant: VariantName,
): Promise<Store> {
  const { prepare, statement, parameters }: Variant = variants[variant];
  const url = new URL(serverUrl);
  url.pathname = `/bench_${variant.toLowerCase()}`;
  await administration`CREATE DATABASE ${administration(url.pathname.slice(1))} TEMPLATE template1`;
  const sql = openPostgres(url.href, {
    applicationName: `weir-bench-${variant}`,
    connectionsMax: concurrency,
    statementTimeoutMs: 0,
  });
  await prepare(url.href, sql);
  return {
    sql,
    variant,
    async store(part) {
      await sql.unsafe(statement, parameters([part]), { prepare: true });
    },
    [Symbol.asyncDispose]: () => sql[Symbol.asyncDispose](),
  };
}

/** @param kibibytes the option of the index of each partition. */
async function setPendingList(sql: Sql, kibibytes: number): Promise<void> {
  const indexes = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_partition_tree('segments_by_term') JOIN pg_class ON oid = relid WHERE isleaf`;
  for (const { name } of indexes)
    await sql`ALTER INDEX ${sql(name)} SET (gin_pending_list_limit = ${sql.unsafe(String(kibibytes))})`;
}
