import { insertParts } from '../../../harness/fixtures/insert-parts.ts';
import type { Part } from '../../../platform/queue/group.ts';
import { openPostgres, type Sql } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import { spaces } from '../../../store/db/schema.ts';
import { migrateDatabase } from '../../../store/migrate/migrate.ts';
import { foldStatistics } from '../../../store/write/statistics/fold.ts';
import { keepDimensions } from '../../../store/write/statistics/keep-dimensions.ts';

/** Concurrent statements, as many as the writer's. */
export const concurrency = 3;

/** `application_name` of its connections. */
export const applicationName = 'weir-bench-storage';

/** A separate empty database, with as many connections as a writer has. */
export interface Store extends AsyncDisposable {
  readonly sql: Sql;
  store(part: Part): Promise<void>;
  /** Adds what was stored to the statistics, as the writer does all the time. */
  fold(): Promise<void>;
  /** Adds a space that declares dimensions. */
  declare(spaceId: string, names: readonly string[]): Promise<void>;
}

/** @param administration a connection that may create databases. */
export async function createStore(administration: Sql, serverUrl: string): Promise<Store> {
  const url = new URL(serverUrl);
  url.pathname = '/bench_storage';
  await administration`CREATE DATABASE ${administration(url.pathname.slice(1))} TEMPLATE template1`;
  await migrateDatabase(url.href);
  const sql = openPostgres(url.href, {
    applicationName,
    connectionsMax: concurrency,
    statementTimeoutMs: 0,
  });
  const database = openDatabase(sql);
  return {
    sql,
    async store(part) {
      await insertParts(database, [part]);
    },
    async fold() {
      while ((await foldStatistics(database)) > 0);
    },
    async declare(id, names) {
      await database.insert(spaces).values({ id, name: 'sliced', dimensions: [...names] });
      await keepDimensions(database, new AbortController().signal);
    },
    [Symbol.asyncDispose]: () => sql[Symbol.asyncDispose](),
  };
}
